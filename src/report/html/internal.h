/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the HTML report share: where they write, the style sheet and the script. */
#ifndef RH_REPORT_HTML_INTERNAL_H
#define RH_REPORT_HTML_INTERNAL_H

#include "report/locations.h"
#include "report/report.h"
#include "report/source.h"

struct rh_html {
    FILE *out;
    bool full;
    struct rh_locations locations;
    struct rh_source source;
    struct rh_strbuf text;    /* collected, not yet escaped; empty between uses */
    struct rh_strbuf escaped; /* the same */
};

void rh_html_put(struct rh_html *page, const char *html);
void rh_html_put_text(struct rh_html *page, const char *text);
void rh_html_put_id(struct rh_html *page, uint64_t id);

/* Puts what was collected, and empties it. */
void rh_html_put_collected(struct rh_html *page);

/* A place whose name and line stay together, and whose folder may be broken anywhere. */
void rh_html_put_place(struct rh_html *page, const struct rh_sidecar_location *at);
/* The same in another style than that of the place of an access. */
void rh_html_put_path(struct rh_html *page, const struct rh_sidecar_location *at,
                      const char *style);

/* The table of all candidates, by pairs of lines. */
void rh_html_put_candidates(struct rh_html *page, const struct rh_report *report);

extern const char rh_html_style[];
extern const char rh_html_script[];

#endif
