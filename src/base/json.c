/* SPDX-License-Identifier: Apache-2.0 */
/* A streaming writer of pretty JSON that refuses wrong nesting. */
#include "base/json.h"

#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Not assert(): a broken document must not leave a release build either. */
static void require(bool holds, const char *rule)
{
    if (holds)
        return;
    rh_log_error("JSON writer misused: %s", rule);
    abort();
}

void rh_json_init_file(struct rh_json *json, FILE *stream)
{
    *json = (struct rh_json){.stream = stream};
    json->state[0] = RH_JSON_DOCUMENT;
}

static void flush(struct rh_json *json)
{
    fwrite(json->scratch.data, 1, json->scratch.len, json->stream);
    rh_strbuf_reset(&json->scratch);
}

static void start_line(struct rh_json *json)
{
    rh_strbuf_addf(&json->scratch, "\n%*s", (int)(2 * json->depth), "");
}

static void start_item(struct rh_json *json)
{
    if (json->nonempty[json->depth])
        rh_strbuf_addc(&json->scratch, ',');
    json->nonempty[json->depth] = true;
    start_line(json);
}

static void start_value(struct rh_json *json)
{
    enum rh_json_state *state = &json->state[json->depth];
    require(*state != RH_JSON_DONE, "a second document");
    require(*state != RH_JSON_KEY, "a value without a key in an object");
    if (*state == RH_JSON_ARRAY)
        start_item(json);
    else
        *state = *state == RH_JSON_DOCUMENT ? RH_JSON_DONE : RH_JSON_KEY;
}

static void write_value(struct rh_json *json, const char *text)
{
    start_value(json);
    rh_strbuf_add(&json->scratch, text);
    flush(json);
}

static void begin(struct rh_json *json, char bracket, enum rh_json_state state)
{
    start_value(json);
    require(json->depth < RH_JSON_MAX_DEPTH, "nested too deeply");
    rh_strbuf_addc(&json->scratch, bracket);
    json->depth++;
    json->state[json->depth] = state;
    json->nonempty[json->depth] = false;
    flush(json);
}

static void end(struct rh_json *json, char bracket, enum rh_json_state state)
{
    require(json->depth > 0 && json->state[json->depth] == state, "an end without its begin");
    bool nonempty = json->nonempty[json->depth];
    json->depth--;
    if (nonempty)
        start_line(json);
    rh_strbuf_addc(&json->scratch, bracket);
    flush(json);
}

void rh_json_begin_object(struct rh_json *json)
{
    begin(json, '{', RH_JSON_KEY);
}

void rh_json_end_object(struct rh_json *json)
{
    end(json, '}', RH_JSON_KEY);
}

void rh_json_begin_array(struct rh_json *json)
{
    begin(json, '[', RH_JSON_ARRAY);
}

void rh_json_end_array(struct rh_json *json)
{
    end(json, ']', RH_JSON_ARRAY);
}

void rh_json_key(struct rh_json *json, const char *name)
{
    require(json->state[json->depth] == RH_JSON_KEY, "a key where none may stand");
    start_item(json);
    rh_strbuf_add_json(&json->scratch, name);
    rh_strbuf_add(&json->scratch, ": ");
    json->state[json->depth] = RH_JSON_VALUE;
    flush(json);
}

void rh_json_string(struct rh_json *json, const char *text)
{
    if (!text) {
        rh_json_null(json);
        return;
    }
    start_value(json);
    rh_strbuf_add_json(&json->scratch, text);
    flush(json);
}

void rh_json_uint(struct rh_json *json, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    write_value(json, text);
}

/* The shortest of the usual precisions that reads back as the same number. */
void rh_json_double(struct rh_json *json, double number)
{
    if (!isfinite(number)) {
        rh_json_null(json);
        return;
    }
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, number);
        if (strtod(text, NULL) == number)
            break;
    }
    write_value(json, text);
}

void rh_json_bool(struct rh_json *json, bool value)
{
    write_value(json, value ? "true" : "false");
}

void rh_json_null(struct rh_json *json)
{
    write_value(json, "null");
}

enum rh_status rh_json_finish(struct rh_json *json)
{
    require(json->depth == 0 && json->state[0] == RH_JSON_DONE, "an unfinished document");
    rh_strbuf_addc(&json->scratch, '\n');
    flush(json);
    rh_strbuf_release(&json->scratch);
    errno = 0;
    if (fflush(json->stream) == 0 && !ferror(json->stream))
        return RH_OK;
    if (!errno)
        return rh_fail(RH_ERR_IO, "cannot write JSON");
    return rh_fail_errno(RH_ERR_IO, "cannot write JSON");
}
