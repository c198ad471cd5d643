/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4 as a stream, and the 16-digit form of its results. */
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The bytes 00 01 ... 0f read as two little-endian numbers. */
#define KEY_LOW  UINT64_C(0x0706050403020100)
#define KEY_HIGH UINT64_C(0x0f0e0d0c0b0a0908)

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static void run_rounds(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void mix_block(uint64_t v[4], uint64_t block)
{
    v[3] ^= block;
    run_rounds(v, 2);
    v[0] ^= block;
}

void rh_hash_init(struct rh_hash *hash)
{
    *hash = (struct rh_hash){
        .v = {KEY_LOW ^ UINT64_C(0x736f6d6570736575), KEY_HIGH ^ UINT64_C(0x646f72616e646f6d),
              KEY_LOW ^ UINT64_C(0x6c7967656e657261), KEY_HIGH ^ UINT64_C(0x7465646279746573)}};
}

void rh_hash_add(struct rh_hash *hash, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++) {
        hash->tail |= (uint64_t)at[i] << (8 * (hash->len % 8));
        if (++hash->len % 8 == 0) {
            mix_block(hash->v, hash->tail);
            hash->tail = 0;
        }
    }
}

void rh_hash_add_u64(struct rh_hash *hash, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    rh_hash_add(hash, bytes, sizeof bytes);
}

void rh_hash_add_string(struct rh_hash *hash, const char *text)
{
    size_t len = strlen(text);
    rh_hash_add_u64(hash, len);
    rh_hash_add(hash, text, len);
}

uint64_t rh_hash_finish(const struct rh_hash *hash)
{
    uint64_t v[4];
    memcpy(v, hash->v, sizeof v);
    mix_block(v, hash->tail | hash->len << 56);
    v[2] ^= 0xff;
    run_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t rh_hash_bytes(const void *bytes, size_t len)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add(&hash, bytes, len);
    return rh_hash_finish(&hash);
}

void rh_hash_format(uint64_t value, char out[RH_HASH_HEX_SIZE])
{
    snprintf(out, RH_HASH_HEX_SIZE, "%016" PRIx64, value);
}
