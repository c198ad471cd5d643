/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes findings, and decodes them with distrust: see finding_codec.h. */
#include "store/finding_codec.h"

#include <string.h>

enum kind { NUMBER, BYTES };

/* The fields, by the numbers that finding_codec.h documents: X(number, member). */
#define FINDING_NUMBERS(X)                                                                         \
    X(1, proof)                                                                                    \
    X(2, opaque)                                                                                   \
    X(3, block)                                                                                    \
    X(4, block_thread)                                                                             \
    X(5, pause_us)
enum { FINDING_DATA = 6, FINDING_SIDE = 7 };

#define SIDE_NUMBERS(X)                                                                            \
    X(2, site.site)                                                                                \
    X(3, thread)                                                                                   \
    X(4, parent)                                                                                   \
    X(5, size)
enum { SIDE_IMAGE = 1, SIDE_FRAME = 6, SIDE_LOCK = 7 };

enum { PLACE_IMAGE = 1, PLACE_TAG = 2, PLACE_OFFSET = 3 };

/* --- what is sound --- */

bool rh_finding_is_sound(const struct rh_finding *finding)
{
    for (int i = 0; i < 2; i++)
        if (finding->sides[i].frame_count > RH_MAX_FRAMES ||
            finding->sides[i].lock_count > RH_MAX_LOCKS)
            return false;
    return finding->proof < RH_PROOF_COUNT && finding->block <= RH_BLOCK_OTHER;
}

bool rh_finding_visit(const struct rh_finding *finding,
                      bool (*visit)(const struct rh_place *place, void *context), void *context)
{
    bool fine = visit(&finding->data, context);
    for (int i = 0; i < 2; i++) {
        const struct rh_finding_side *side = &finding->sides[i];
        for (uint32_t at = 0; at < side->frame_count; at++)
            fine = visit(&side->frames[at], context) && fine;
        for (uint32_t at = 0; at < side->lock_count; at++)
            fine = visit(&side->locks[at], context) && fine;
    }
    return fine;
}

/* --- encoding --- */

static void add_varint(struct rh_strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        rh_strbuf_addc(out, (char)(value | 0x80));
    rh_strbuf_addc(out, (char)value);
}

static void add_number(struct rh_strbuf *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    add_varint(out, 2 * field + NUMBER);
    add_varint(out, value);
}

static void add_bytes(struct rh_strbuf *out, unsigned field, struct rh_strbuf *bytes)
{
    add_varint(out, 2 * field + BYTES);
    add_varint(out, bytes->len);
    rh_strbuf_addn(out, bytes->data, bytes->len);
    rh_strbuf_release(bytes);
}

/* Images from 1, so that 0 says none. */
static uint64_t count_image(uint32_t image)
{
    return image == RH_NO_IMAGE ? 0 : (uint64_t)image + 1;
}

static void add_place(struct rh_strbuf *out, unsigned field, const struct rh_place *place)
{
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    if (place->image < RH_MAX_IMAGES) {
        add_number(&bytes, PLACE_IMAGE, count_image(place->image));
        add_number(&bytes, PLACE_OFFSET, place->offset);
    }
    add_number(&bytes, PLACE_TAG, place->tag);
    add_bytes(out, field, &bytes);
}

static void add_side(struct rh_strbuf *out, const struct rh_finding_side *side)
{
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    add_number(&bytes, SIDE_IMAGE, count_image(side->site.image));
#define ADD_NUMBER(number, member) add_number(&bytes, number, side->member);
    SIDE_NUMBERS(ADD_NUMBER)
#undef ADD_NUMBER
    for (uint32_t i = 0; i < side->frame_count; i++)
        add_place(&bytes, SIDE_FRAME, &side->frames[i]);
    for (uint32_t i = 0; i < side->lock_count; i++)
        add_place(&bytes, SIDE_LOCK, &side->locks[i]);
    add_bytes(out, FINDING_SIDE, &bytes);
}

void rh_finding_encode(const struct rh_finding *finding, struct rh_strbuf *out)
{
    rh_strbuf_addc(out, RH_FINDING_VERSION);
#define ADD_NUMBER(number, member) add_number(out, number, finding->member);
    FINDING_NUMBERS(ADD_NUMBER)
#undef ADD_NUMBER
    add_place(out, FINDING_DATA, &finding->data);
    for (int i = 0; i < 2; i++)
        add_side(out, &finding->sides[i]);
}

/* --- decoding --- */

struct reader {
    const unsigned char *at, *end;
};

struct field {
    uint64_t number;
    enum kind kind;
    uint64_t value;      /* of a number */
    struct reader bytes; /* of bytes */
};

/* False at the end, and where the number has more than 64 bits. */
static bool take_varint(struct reader *reader, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        unsigned char byte = *reader->at++;
        uint64_t bits = byte & 0x7f;
        if (bits << shift >> shift != bits)
            return false;
        *value |= bits << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_field(struct reader *reader, struct field *field)
{
    uint64_t key;
    if (!take_varint(reader, &key) || !take_varint(reader, &field->value))
        return false;
    field->number = key >> 1;
    field->kind = key & 1 ? BYTES : NUMBER;
    if (field->kind == NUMBER)
        return true;
    if (field->value > (uint64_t)(reader->end - reader->at))
        return false;
    field->bytes = (struct reader){reader->at, reader->at + field->value};
    reader->at += field->value;
    return true;
}

/* What a field must be, if it is known at all. */
static bool read_number(const struct field *field, uint32_t *number)
{
    *number = (uint32_t)field->value;
    return field->kind == NUMBER && field->value <= UINT32_MAX;
}

static bool read_image(const struct field *field, uint64_t limit, uint32_t *image)
{
    if (field->kind != NUMBER || field->value > limit)
        return false;
    *image = field->value == 0 ? RH_NO_IMAGE : (uint32_t)(field->value - 1);
    return true;
}

static bool read_place_field(const struct field *field, struct rh_place *place)
{
    switch (field->number) {
    case PLACE_IMAGE:
        return read_image(field, RH_MAX_IMAGES, &place->image);
    case PLACE_TAG:
        return read_number(field, &place->tag);
    case PLACE_OFFSET:
        place->offset = field->value;
        return field->kind == NUMBER;
    default:
        return true;
    }
}

static bool read_place(const struct field *field, struct rh_place *place)
{
    struct reader reader = field->bytes;
    struct field inner;
    *place = (struct rh_place){.image = RH_NO_IMAGE};
    if (field->kind != BYTES)
        return false;
    while (reader.at < reader.end)
        if (!take_field(&reader, &inner) || !read_place_field(&inner, place))
            return false;
    return place->image != RH_NO_IMAGE || place->offset == 0;
}

static bool read_side_field(const struct field *field, struct rh_finding_side *side)
{
    switch (field->number) {
    case SIDE_IMAGE:
        return read_image(field, UINT32_MAX, &side->site.image);
#define READ_NUMBER(number, member)                                                                \
    case number:                                                                                   \
        return read_number(field, &side->member);
        SIDE_NUMBERS(READ_NUMBER)
#undef READ_NUMBER
    case SIDE_FRAME:
        return side->frame_count < RH_MAX_FRAMES &&
               read_place(field, &side->frames[side->frame_count++]);
    case SIDE_LOCK:
        return side->lock_count < RH_MAX_LOCKS &&
               read_place(field, &side->locks[side->lock_count++]);
    default:
        return true;
    }
}

static bool read_side(const struct field *field, struct rh_finding_side *side)
{
    struct reader reader = field->bytes;
    struct field inner;
    side->site.image = RH_NO_IMAGE;
    if (field->kind != BYTES)
        return false;
    while (reader.at < reader.end)
        if (!take_field(&reader, &inner) || !read_side_field(&inner, side))
            return false;
    return true;
}

static bool read_finding_field(const struct field *field, struct rh_finding *finding, int *sides)
{
    switch (field->number) {
#define READ_NUMBER(number, member)                                                                \
    case number:                                                                                   \
        return read_number(field, &finding->member);
        FINDING_NUMBERS(READ_NUMBER)
#undef READ_NUMBER
    case FINDING_DATA:
        return read_place(field, &finding->data);
    case FINDING_SIDE:
        return *sides < 2 && read_side(field, &finding->sides[(*sides)++]);
    default:
        return true;
    }
}

enum rh_status rh_finding_decode(const void *bytes, size_t len, struct rh_finding *finding)
{
    struct reader reader = {bytes, (const unsigned char *)bytes + len};
    struct field field;
    int sides = 0;
    memset(finding, 0, sizeof *finding);
    finding->data.image = RH_NO_IMAGE;
    if (len == 0 || *reader.at++ != RH_FINDING_VERSION)
        return rh_fail(RH_ERR_INPUT, "a finding is of an unknown version");
    while (reader.at < reader.end)
        if (!take_field(&reader, &field) || !read_finding_field(&field, finding, &sides))
            return rh_fail(RH_ERR_INPUT, "a finding is damaged");
    if (sides != 2 || !rh_finding_is_sound(finding))
        return rh_fail(RH_ERR_INPUT, "a finding is incomplete");
    return RH_OK;
}
