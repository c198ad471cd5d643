/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet and the script of HTML reports. */
#include "report/html_page.h"

/* Light or dark as the reader's system is; on paper black on white, without the filter, and with no
 * race torn apart if it fits a page. */
const char rh_html_style[] =
    ":root{color-scheme:light dark;--ink:#1c1e21;--soft:#5c6370;--paper:#fff;--card:#f6f7f9;"
    "--line:#d8dbe0;--race:#b3261e;--fine:#1e6b3a;--open:#7a5b00;--code:#eef0f3}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e7ea;--soft:#9aa1ad;--paper:#16181c;"
    "--card:#1e2126;--line:#343941;--race:#ff8a80;--fine:#7fd79b;--open:#e6c25c;--code:#262a30}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:76rem;padding:1.5rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:0}h2{font-size:1.25rem;margin:2.2rem 0 .6rem}"
    "h3{font-size:1.05rem;margin:0 0 .6rem;overflow-wrap:anywhere}\n"
    "p{margin:.4rem 0}.soft{color:var(--soft)}\n"
    "code,pre,.id{font-family:ui-monospace,monospace;font-size:.88em}\n"
    "code{overflow-wrap:anywhere}.id{color:var(--soft)}\n"
    "article{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--race);"
    "border-radius:6px;padding:1rem 1.2rem;margin:0 0 1.2rem}\n"
    "article.open{border-left-color:var(--open)}\n"
    ".sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,1fr));gap:1rem}\n"
    ".sides section{min-width:0}.sides h4{margin:0 0 .2rem;font-size:.95rem}\n"
    "pre{background:var(--code);border-radius:4px;padding:.5rem .7rem;margin:.4rem 0;"
    "overflow-x:auto}\n"
    "pre .gutter{color:var(--soft)}pre .caret{color:var(--race);font-weight:bold}\n"
    "ol.stack{margin:.4rem 0;padding-left:1.6rem;font-size:.92em}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.8rem 0 0}\n"
    "dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92em}\n"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .7rem;border-bottom:1px solid "
    "var(--line)}\n"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "tr.true-race .verdict{color:var(--race);font-weight:600}"
    "tr.likely-false-positive .verdict{color:var(--fine)}tr.unknown .verdict{color:var(--open)}\n"
    ".filter:not([hidden]){display:flex;gap:.8rem;flex-wrap:wrap;margin:.5rem 0}\n"
    ".filter input{flex:1 1 16rem;font:inherit;padding:.3rem .6rem}"
    ".filter select{font:inherit;padding:.3rem}\n"
    "a{color:inherit}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;"
    "--line:#999;--race:#900;--fine:#060;--open:#540;--code:#fff}"
    "body{max-width:none;padding:0;font-size:10pt}.filter:not([hidden]){display:none}"
    "article,tr{break-inside:avoid}h2,h3{break-after:avoid}"
    "pre{white-space:pre-wrap;border:1px solid #999}.wide{overflow:visible}}\n";

/* Shows the rows of the table whose text has the words and whose verdict is the chosen one. */
const char rh_html_script[] =
    "(function(){var words=document.getElementById('words'),"
    "verdict=document.getElementById('verdict');if(!words)return;"
    "document.querySelector('.filter').hidden=false;"
    "function show(){var wanted=words.value.toLowerCase().split(/\\s+/);"
    "document.querySelectorAll('#candidates tbody tr').forEach(function(row){"
    "var text=row.textContent.toLowerCase();"
    "row.hidden=(verdict.value&&!row.classList.contains(verdict.value))||"
    "!wanted.every(function(word){return text.indexOf(word)>=0})})}"
    "words.addEventListener('input',show);verdict.addEventListener('change',show)})();\n";
