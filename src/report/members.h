/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects that several commands share. */
#ifndef RH_REPORT_MEMBERS_H
#define RH_REPORT_MEMBERS_H

#include "base/json.h"
#include "store/sidecar.h"

void rh_members_text(struct rh_json *json, const char *name, const char *text);
void rh_members_number(struct rh_json *json, const char *name, uint64_t number);

/* What is not known is null: the size of a memcpy, the key of a site that has none. */
void rh_members_number_if(struct rh_json *json, const char *name, bool known, uint64_t number);

/* tool, version, program, build_id */
void rh_members_head(struct rh_json *json, const char *program, const char *build_id);

/* "near": true of a line that is only the nearest known; nothing of any other. */
void rh_members_near(struct rh_json *json, bool is_near);

/* file, line, column, near, function, access, size, order (of atomics), expression */
void rh_members_site(struct rh_json *json, const struct rh_sidecar_site *site);

/* The calls through which a site was inlined, from the innermost outwards. */
void rh_members_chain(struct rh_json *json, const char *name, const struct rh_sidecar_site *site);

#endif
