/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --rh-config says of functions that synchronise, made of the module: their calls become
 * events (ir/rewrite/named.h), for the analysis and for the runtime alike.
 */
#ifndef RH_LINKSTEP_RULES_H
#define RH_LINKSTEP_RULES_H

#include "base/config.h"
#include "ir/ir.h"

/* Opens the module with these functions wrapped. If a function was inlined, or has lost its
 * argument, none is, and a warning says so. `shown` is the configuration's name. */
enum rh_status rh_rules_open(const char *path, const struct rh_config *config, const char *shown,
                             struct rh_module **out);

/* May a function of the module, or of assembly in it, order threads in the way a rule says and no
 * other? `config` is a struct rh_config. */
bool rh_rules_name(const void *config, const char *function);

#endif
