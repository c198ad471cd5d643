/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 64-bit hash behind fingerprints: the same for the same input in every build, on every
 * machine, for ever.
 *
 * Definition: SipHash-2-4 with the 16-byte key 00 01 02 ... 0f over the concatenation of all that
 * was added. A number is added as eight bytes, least significant first. A string is added as its
 * length, a number, then its bytes without the NUL, so that ("ab", "c") and ("a", "bc") differ.
 * Fingerprints are stored across builds: changing this definition breaks every verdict on file.
 */
#ifndef RH_BASE_HASH_H
#define RH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct rh_hash {
    uint64_t v[4];
    uint64_t tail; /* the bytes of the block being filled */
    uint64_t len;  /* bytes added so far */
};

void rh_hash_init(struct rh_hash *hash);
void rh_hash_add(struct rh_hash *hash, const void *bytes, size_t len);
void rh_hash_add_string(struct rh_hash *hash, const char *text);
void rh_hash_add_u64(struct rh_hash *hash, uint64_t number);

/* The hash of what was added so far; more may be added afterwards. */
uint64_t rh_hash_finish(const struct rh_hash *hash);

/* The hash of one run of bytes, as by init, add, finish. */
uint64_t rh_hash_bytes(const void *bytes, size_t len);

#define RH_HASH_HEX_SIZE 17 /* 16 digits and the NUL */

/* Writes exactly 16 lower-case hexadecimal digits. */
void rh_hash_format(uint64_t value, char out[RH_HASH_HEX_SIZE]);

#endif
