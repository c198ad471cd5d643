/* SPDX-License-Identifier: Apache-2.0 */
/* The renderers behind rh_report_write: one file for each format. */
#ifndef RH_REPORT_RENDERERS_H
#define RH_REPORT_RENDERERS_H

#include "report/report.h"

enum rh_status rh_render_text(const struct rh_report *report, FILE *out, bool coloured);
enum rh_status rh_render_json(const struct rh_report *report, FILE *out);
enum rh_status rh_render_sarif(const struct rh_report *report, FILE *out);
enum rh_status rh_render_html(const struct rh_report *report, FILE *out);

#endif
