/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as bytes: they come back as they were, old bytes are still read, damage is survived. */
#include "store/finding_codec.h"

#include "base/testing.h"

#include <string.h>

/* Every member differs from every other, and from 0. */
static struct rh_finding make_finding(void)
{
    struct rh_finding finding = {
        .proof = RH_PROOF_COLLISION,
        .opaque = 5,
        .block = RH_BLOCK_STACK,
        .block_thread = 3,
        .pause_us = 123456,
        .data = {.image = 1, .offset = 0x4010},
    };
    for (uint32_t i = 0; i < 2; i++) {
        struct rh_finding_side *side = &finding.sides[i];
        side->site = (struct rh_site_name){i, 300 + i};
        side->thread = 7 + i;
        side->parent = 1;
        side->size = 8;
        side->frame_count = 2 + i;
        for (uint32_t at = 0; at < side->frame_count; at++)
            side->frames[at] = (struct rh_place){.image = at, .offset = 0x1000 * (at + 1) + i};
        side->lock_count = 2;
        side->locks[0] = (struct rh_place){.image = 63, .tag = 1, .offset = UINT64_MAX};
        side->locks[1] = (struct rh_place){.image = RH_NO_IMAGE, .tag = UINT32_MAX};
    }
    return finding;
}

static void assert_comes_back(const struct rh_finding *finding, const struct rh_finding *expected)
{
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    struct rh_finding back;
    assert_true(rh_finding_is_sound(finding));
    rh_finding_encode(finding, &bytes);
    assert_status(RH_OK, rh_finding_decode(bytes.data, bytes.len, &back));
    assert_memory_equal(&back, expected, sizeof back);
    rh_strbuf_release(&bytes);
}

static void findings_come_back(void **state)
{
    (void)state;
    struct rh_finding finding = make_finding();
    assert_comes_back(&finding, &finding);
    struct rh_finding least = {.data.image = RH_NO_IMAGE};
    least.sides[0].site.image = RH_NO_IMAGE;
    assert_comes_back(&least, &least);
    for (uint32_t i = 0; i < RH_MAX_FRAMES; i++)
        finding.sides[1].frames[i] = (struct rh_place){.image = i % 64, .offset = i};
    finding.sides[1].frame_count = RH_MAX_FRAMES;
    finding.sides[0].lock_count = 0;
    memset(finding.sides[0].locks, 0, sizeof finding.sides[0].locks);
    assert_comes_back(&finding, &finding);
}

/* An offset without an image would be an address; frames beyond the count are whatever was there.
 */
static void what_has_no_meaning_is_left_out(void **state)
{
    (void)state;
    struct rh_finding finding = make_finding(), expected = make_finding();
    finding.ready = 1;
    finding.sides[0].frames[2] = (struct rh_place){.image = 2, .offset = 0x7fff00001000};
    finding.sides[0].locks[1].offset = 0x7fff00002000;
    finding.sides[1].frames[0] = (struct rh_place){.image = 64, .offset = 0x7fff00003000};
    expected.sides[1].frames[0] = (struct rh_place){.image = RH_NO_IMAGE};
    assert_comes_back(&finding, &expected);
}

static void unsound_findings_are_told(void **state)
{
    (void)state;
    struct rh_finding finding = make_finding();
    finding.sides[0].frame_count = RH_MAX_FRAMES + 1;
    assert_false(rh_finding_is_sound(&finding));
    finding = make_finding();
    finding.sides[1].lock_count = UINT32_MAX;
    assert_false(rh_finding_is_sound(&finding));
    finding = make_finding();
    finding.proof = RH_PROOF_COUNT;
    assert_false(rh_finding_is_sound(&finding));
    finding = make_finding();
    finding.block = RH_BLOCK_OTHER + 1;
    assert_false(rh_finding_is_sound(&finding));
}

/* The bytes that version 1 wrote of make_finding(). They never change: stores hold such. */
static const unsigned char written_by_version_1[] = {
    0x01, 0x02, 0x01, 0x04, 0x05, 0x06, 0x01, 0x08, 0x03, 0x0a, 0xc0, 0xc4, 0x07, 0x0d, 0x06,
    0x02, 0x02, 0x06, 0x90, 0x80, 0x01, 0x0f, 0x32, 0x02, 0x01, 0x04, 0xac, 0x02, 0x06, 0x07,
    0x08, 0x01, 0x0a, 0x08, 0x0d, 0x05, 0x02, 0x01, 0x06, 0x80, 0x20, 0x0d, 0x05, 0x02, 0x02,
    0x06, 0x80, 0x40, 0x0f, 0x0f, 0x02, 0x40, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0x01, 0x04, 0x01, 0x0f, 0x06, 0x04, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x0f, 0x39,
    0x02, 0x02, 0x04, 0xad, 0x02, 0x06, 0x08, 0x08, 0x01, 0x0a, 0x08, 0x0d, 0x05, 0x02, 0x01,
    0x06, 0x81, 0x20, 0x0d, 0x05, 0x02, 0x02, 0x06, 0x81, 0x40, 0x0d, 0x05, 0x02, 0x03, 0x06,
    0x81, 0x60, 0x0f, 0x0f, 0x02, 0x40, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0x01, 0x04, 0x01, 0x0f, 0x06, 0x04, 0xff, 0xff, 0xff, 0xff, 0x0f};

static void version_1_is_still_read(void **state)
{
    (void)state;
    struct rh_finding expected = make_finding(), back;
    assert_status(RH_OK,
                  rh_finding_decode(written_by_version_1, sizeof written_by_version_1, &back));
    assert_memory_equal(&back, &expected, sizeof back);
}

/* A later version may add fields of both kinds, at every level. */
static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    static const unsigned char later[] = {
        1,          2 * 1, 1,              /* proof */
        2 * 100,    1,     0x7f,           /* a number: the key takes two bytes */
        2 * 60 + 1, 3,     'a',  'b', 'c', /* bytes */
        2 * 7 + 1,  8,                     /* a side */
        2 * 3,      4,                     /*   thread */
        2 * 50,     9,                     /*   a number */
        2 * 51 + 1, 2,     0,    0,        /*   bytes */
        2 * 7 + 1,  5,                     /* a side */
        2 * 6 + 1,  3,                     /*   frame */
        2 * 20 + 1, 1,     0,              /*     bytes */
    };
    struct rh_finding back;
    assert_status(RH_OK, rh_finding_decode(later, sizeof later, &back));
    assert_int_equal(back.proof, 1);
    assert_int_equal(back.sides[0].thread, 4);
    assert_int_equal(back.sides[1].frame_count, 1);
    assert_int_equal(back.sides[1].frames[0].image, RH_NO_IMAGE);
}

static void other_versions_are_refused(void **state)
{
    (void)state;
    unsigned char bytes[sizeof written_by_version_1];
    struct rh_finding back;
    memcpy(bytes, written_by_version_1, sizeof bytes);
    for (int version = 0; version < 256; version++) {
        bytes[0] = (unsigned char)version;
        assert_status(version == RH_FINDING_VERSION ? RH_OK : RH_ERR_INPUT,
                      rh_finding_decode(bytes, sizeof bytes, &back));
    }
    assert_status(RH_ERR_INPUT, rh_finding_decode(bytes, 0, &back));
}

/* Decodes a copy of exactly this size, which a sanitizer watches to the byte. */
static bool survives(const unsigned char *bytes, size_t len)
{
    unsigned char *exact = malloc(len);
    assert_non_null(exact);
    memcpy(exact, bytes, len);
    struct rh_finding back;
    enum rh_status status = rh_finding_decode(exact, len, &back);
    free(exact);
    if (status != RH_OK && status != RH_ERR_INPUT)
        fail_msg("%s: %s", status_name(status), rh_error_text());
    if (status == RH_OK)
        assert_true(rh_finding_is_sound(&back));
    return status == RH_OK;
}

static void every_truncation_is_survived(void **state)
{
    (void)state;
    /* What is cut off ends in the middle of the second side. */
    for (size_t len = 1; len < sizeof written_by_version_1; len++)
        assert_false(survives(written_by_version_1, len));
}

static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    unsigned char bytes[sizeof written_by_version_1];
    unsigned refused = 0, read = 0;
    for (size_t at = 0; at < sizeof bytes; at++)
        for (int value = 0; value < 256; value++) {
            memcpy(bytes, written_by_version_1, sizeof bytes);
            bytes[at] = (unsigned char)value;
            if (survives(bytes, sizeof bytes))
                read++;
            else
                refused++;
        }
    print_message("%u changed findings read, %u refused\n", read, refused);
    assert_true(read > 0 && refused > 0);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } rows[] = {
        {"\x01", 1},                         /* no sides */
        {"\x01\x0f\x00", 3},                 /* one side */
        {"\x01\x0f\x00\x0f\x00\x0f\x00", 7}, /* three */
        {"\x01\x0e\x00\x0f\x00", 5},         /* a side that is a number */
        {"\x01\x03\x00\x0f\x00\x0f\x00", 7}, /* a proof of bytes */
        {"\x01\x02\x04\x0f\x00\x0f\x00", 7}, /* a proof that is none */
        {"\x01\x0f\x00\x0f\x05\x00", 6},     /* a length beyond the end */
        {"\x01\x0f\x00\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14}, /* very far beyond */
        {"\x01\x0f\x00\x0f\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 16}, /* 65 bits */
        {"\x01\x0f\x00\x0f\x00\x0a\x80\x80\x80\x80\x10", 11}, /* 33 bits for 32 */
        {"\x01\x0f\x00\x0f\x00\x0d\x02\x02\x41", 9},          /* data in image 64 */
        {"\x01\x0f\x00\x0f\x00\x0d\x02\x06\x01", 9},          /* an address */
    };
    struct rh_finding back;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rh_finding_decode(rows[i].bytes, rows[i].len, &back) != RH_ERR_INPUT)
            fail_msg("row %zu is read", i);
    assert_status(RH_OK, rh_finding_decode("\x01\x0f\x00\x0f\x00", 5, &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_come_back),
        cmocka_unit_test(what_has_no_meaning_is_left_out),
        cmocka_unit_test(unsound_findings_are_told),
        cmocka_unit_test(version_1_is_still_read),
        cmocka_unit_test(unknown_fields_are_skipped),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
