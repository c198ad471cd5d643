/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control page: shared memory that a program finds by its name.
 *
 * Who makes one holds a lock on its file until it is released. One who is killed cannot remove it,
 * but then nobody holds the lock: the next one to make a page removes all that are not locked.
 */
#ifndef RH_AGENT_PAGE_H
#define RH_AGENT_PAGE_H

#include "base/status.h"
#include "racehive/control.h"

struct rh_page {
    char *path;
    struct rh_shared *shared;
    int fd; /* which has the lock */
};

enum rh_status rh_page_make(struct rh_page *page);
/* Maps a page that a runtime has made itself (its option pages), and takes it over: it is removed
 * when it is released. RH_ERR_INPUT if it is none of this version. */
enum rh_status rh_page_open(const char *path, struct rh_page *page);
/* Takes a page that was never made, too, if all its bytes are zero. */
void rh_page_release(struct rh_page *page);

#endif
