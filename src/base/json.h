/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming writer of JSON: pretty, indented by two spaces, valid UTF-8 for any strings.
 *
 *     struct rh_json json;
 *     rh_json_init_file(&json, stdout);
 *     rh_json_begin_object(&json);
 *     rh_json_key(&json, "runs");
 *     rh_json_uint(&json, 64);
 *     rh_json_end_object(&json);
 *     status = rh_json_finish(&json);
 *
 * Wrong nesting (a value without a key in an object, an end without its begin, two documents in
 * one) is a mistake of the program and aborts it. Whoever made the stream owns and closes it.
 */
#ifndef RH_BASE_JSON_H
#define RH_BASE_JSON_H

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RH_JSON_MAX_DEPTH 64

/* What may come next at one level of nesting. */
enum rh_json_state {
    RH_JSON_DOCUMENT, /* the one value of the document */
    RH_JSON_ARRAY,    /* a value or the end */
    RH_JSON_KEY,      /* a key or the end */
    RH_JSON_VALUE,    /* the value of the key just written */
    RH_JSON_DONE      /* nothing: the document is complete */
};

struct rh_json {
    FILE *stream;
    struct rh_strbuf scratch; /* on the way to the stream; empty between calls */
    size_t depth;
    enum rh_json_state state[RH_JSON_MAX_DEPTH + 1];
    bool nonempty[RH_JSON_MAX_DEPTH + 1]; /* whether a comma goes before the next item */
};

void rh_json_init_file(struct rh_json *json, FILE *stream);

/* Ends the document with a newline; RH_ERR_IO if the stream could not be written. */
enum rh_status rh_json_finish(struct rh_json *json);

void rh_json_begin_object(struct rh_json *json);
void rh_json_end_object(struct rh_json *json);
void rh_json_begin_array(struct rh_json *json);
void rh_json_end_array(struct rh_json *json);
void rh_json_key(struct rh_json *json, const char *name);

void rh_json_string(struct rh_json *json, const char *text); /* NULL becomes null */
void rh_json_uint(struct rh_json *json, uint64_t number);
void rh_json_double(struct rh_json *json, double number); /* null unless finite */
void rh_json_bool(struct rh_json *json, bool value);
void rh_json_null(struct rh_json *json);

#endif
