/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preprocessed, never compiled: the symbols that a static link must pass to the linker as
 * --wrap=SYM, one per line (the file wrapped-symbols).
 */
#define RT_REAL_ROW(result, name, parameters, arguments, version) name
#define RT_LIBC_ROW(result, name, parameters, arguments, failure) name
#define RT_MORE_ROW(result, name, parameters, last, arguments)    name
#define RT_HEAP_ROW                                               RT_REAL_ROW
#define RT_GUARD_ROW                                              RT_REAL_ROW
#define RT_LIST_ROW(name)                                         name
#include "intercept/real.def"
