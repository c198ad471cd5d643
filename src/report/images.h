/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images of a program take part in a search for races and which do not, in words: the program
 * itself, and the shared libraries that are loaded with it. What is loaded later is not known here.
 */
#ifndef RH_REPORT_IMAGES_H
#define RH_REPORT_IMAGES_H

#include "base/strbuf.h"
#include "store/sidecar.h"

/* Adds one line about the libraries that the program at `path` needs, beside those of C and C++;
 * nothing if there are none, or if the file is not there. */
void rh_images_describe(const char *path, struct rh_strbuf *out);

/* The path of a library that the program needs, directly or not, by its name: a heap string, NULL
 * if it needs none of that name. */
char *rh_images_find(const char *path, const char *name);

/* Adds one line that says why a program has no candidates. */
void rh_images_explain_none(const struct rh_sidecar *sidecar, struct rh_strbuf *out);

#endif
