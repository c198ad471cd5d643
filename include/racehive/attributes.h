/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What racehive-cc includes before every file: no_sanitize(...) also leaves an annotation, because
 * clang forgets no_sanitize("thread") where it does not instrument for threads itself. In the
 * brackets of C++11 and C23 an annotation cannot follow, and is ignored.
 */
#pragma GCC system_header
#if defined(__clang__) && !defined(__ASSEMBLER__)
#define no_sanitize(...)                                                                           \
    __no_sanitize__(__VA_ARGS__) _Pragma("clang diagnostic push")                                  \
        _Pragma("clang diagnostic ignored \"-Wunknown-attributes\""),                              \
        annotate("racehive-no-sanitize", __VA_ARGS__) _Pragma("clang diagnostic pop")
/* A program may have a macro of this name: it is not warned of ours. */
#pragma push_macro("no_sanitize")
#endif
