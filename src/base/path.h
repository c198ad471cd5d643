/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: taking apart, putting together, finding programs and the user's folders.
 *
 * Paths returned through `char **` or as `char *` are heap strings of the caller. What does not
 * exist is RH_ERR_NOT_FOUND, every other trouble with the system RH_ERR_IO.
 */
#ifndef RH_BASE_PATH_H
#define RH_BASE_PATH_H

#include "base/status.h"

#include <stdbool.h>

/* "a" and "b" give "a/b"; an absolute `name` stands alone, an empty part adds nothing. */
char *rh_path_join(const char *dir, const char *name);

/* As the utilities of the same names: of "a/b/" they give "b" and "a"; of "b", "b" and ".". */
char *rh_path_basename(const char *path);
char *rh_path_dirname(const char *path);

/* "/usr/lib/gcc/12/../../include/c++" gives "/usr/lib/include/c++", whatever links there may be:
 * for paths that are shown, not opened. */
char *rh_path_tidy(const char *path);

/* Whether a source file belongs to the system, and not to whoever builds a program: the headers of
 * the C and C++ library, of the compiler and of installed packages. */
bool rh_path_is_system(const char *path);

/* The path from the root, symbolic links and ".." left as they are; it need not exist. */
enum rh_status rh_path_absolute(const char *path, char **out);

/* The file that a shell would run for `name`: as given if it has a slash, else found by PATH. */
enum rh_status rh_path_which(const char *name, char **out);

/* The folder that holds the running executable. */
enum rh_status rh_path_self_dir(char **out);

/*
 * The folder of the user's data, which need not exist: $XDG_DATA_HOME/racehive if that is an
 * absolute path, else ~/.local/share/racehive, where ~ is $HOME or, without it, the account's home.
 */
enum rh_status rh_path_user_data(char **out);

#endif
