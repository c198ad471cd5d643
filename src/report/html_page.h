/* SPDX-License-Identifier: Apache-2.0 */
/* What every HTML report has: the style sheet and the script, both inside the file. */
#ifndef RH_REPORT_HTML_PAGE_H
#define RH_REPORT_HTML_PAGE_H

extern const char rh_html_style[];
extern const char rh_html_script[];

#endif
