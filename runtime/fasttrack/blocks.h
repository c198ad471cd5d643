/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of cells, for granules that have more than four: see shadow.h. A block is named by a word
 * that is no cell: its epoch is 0. Its size is one of five; a block that is freed is used again.
 * Blocks stay mapped, so that one can be looked at without holding its granule.
 */
#ifndef RH_RUNTIME_FASTTRACK_BLOCKS_H
#define RH_RUNTIME_FASTTRACK_BLOCKS_H

#include "fasttrack/cell.h"
#include "rt.h"

/* A block with room for so many cells, up to 127; 0 if there is no memory. */
RT_HIDDEN uint64_t rt_block_make(uint32_t count);
RT_HIDDEN void rt_block_free(uint64_t block);
/* Whether so many cells have room in it, and do not leave most of it empty. */
RT_HIDDEN bool rt_block_fits(uint64_t block, uint32_t count);

RT_HIDDEN uint32_t rt_block_read(uint64_t block, uint64_t *cells);
RT_HIDDEN void rt_block_write(uint64_t block, const uint64_t *cells, uint32_t count);
RT_HIDDEN bool rt_block_covers(uint64_t block, uint64_t epoch_word, uint64_t needs);

RT_HIDDEN uint64_t rt_blocks_size(void);
RT_HIDDEN void rt_blocks_after_fork(void);

#endif
