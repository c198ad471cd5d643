/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What racehive-cc includes before every file: no_sanitize(...) also leaves an annotation, because
 * clang forgets no_sanitize("thread") where it does not instrument for threads itself.
 *
 * The annotation comes first, so that it takes the place of the name in both forms:
 * __attribute__((annotate(...), ...)) and [[clang::annotate(...), ...]]. In brackets, what follows
 * has no `clang::` and is ignored; without a sanitizer, which racehive-cc leaves alone, it means
 * nothing.
 */
#pragma GCC system_header
#if defined(__clang__) && !defined(__ASSEMBLER__)
#define no_sanitize(...)                                                                           \
    annotate("racehive-no-sanitize", __VA_ARGS__) _Pragma("clang diagnostic push")                 \
        _Pragma("clang diagnostic ignored \"-Wunknown-attributes\""),                              \
        __no_sanitize__(__VA_ARGS__) _Pragma("clang diagnostic pop")
/* A program may have a macro of this name: it is not warned of ours. */
#pragma push_macro("no_sanitize")
#endif
