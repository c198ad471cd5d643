/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every instrumented image carries: the description of its tables, and the two calls that tell
 * the runtime of it. The runtime sits in the executable; an instrumented library that is loaded by
 * a program without it finds no one to tell, and its keys stay off.
 */
#include <stddef.h>

#include "racehive/image.h"

/* Name "Racehive", type 1, four bytes: the version of image.h. */
__asm__(".pushsection " RH_NOTE_SECTION ",\"a\",@note\n"
        "\t.balign 4\n"
        "\t.long 9, 4, 1\n"
        "\t.asciz \"Racehive\"\n"
        "\t.balign 4\n"
        "\t.long 6\n"
        "\t.popsection\n");
_Static_assert(RH_IMAGE_VERSION == 6, "the note above repeats it");

#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN const struct rh_key_record __rh_keys[];
extern HIDDEN const struct rh_site_record __rh_sites[];
extern HIDDEN const uint32_t __rh_counts[];
extern HIDDEN const uint32_t __rh_candidates[][2];
extern HIDDEN const uint64_t __rh_functions[];
/* Made by the linker when the image has at least one place. */
extern HIDDEN __attribute__((weak)) const struct rh_key_place __start___rh_places[];
extern HIDDEN __attribute__((weak)) const struct rh_key_place __stop___rh_places[];

__attribute__((weak)) void __rh_image_register(struct rh_image *image);
__attribute__((weak)) void __rh_image_unregister(struct rh_image *image);

/* Reached only if a key were switched on before the runtime had set its hook. */
static void do_nothing(struct rh_image *image, struct rh_hook_frame *frame)
{
    (void)image;
    (void)frame;
}

/* The same for checks. */
static bool check_nothing(struct rh_image *image, uintptr_t address, uint64_t key, uint64_t shape,
                          uintptr_t stack)
{
    (void)image, (void)address, (void)key, (void)shape, (void)stack;
    return true;
}

HIDDEN struct rh_image __rh_image = {
    .magic = RH_IMAGE_MAGIC,
    .version = RH_IMAGE_VERSION,
    .hook = do_nothing,
    .keys = __rh_keys,
    .sites = __rh_sites,
    .counts = __rh_counts,
    .candidates = __rh_candidates,
    .places_begin = __start___rh_places,
    .places_end = __stop___rh_places,
    .functions = __rh_functions,
    .check = check_nothing,
};
_Static_assert(offsetof(struct rh_image, function_base) == RH_IMAGE_FUNCTION_BASE,
               "entries of functions add it");
_Static_assert(offsetof(struct rh_image, hook) == 8, "thunk.S calls through it");
_Static_assert(offsetof(struct rh_image, check) == 88, "thunk.S calls through it");
_Static_assert(offsetof(struct rh_hook_frame, red_zone) == 15 * 8, "thunk.S pushes 15 words");

/*
 * Events of functions that --rh-config names, around which racehive-instrument puts calls of these.
 * The threads that such a function starts are for the analysis alone: the runtime sees them by how
 * they are started, or the process is opaque.
 */
__attribute__((weak)) void __rh_happens_before(const volatile void *address);
__attribute__((weak)) void __rh_happens_after(const volatile void *address);
__attribute__((weak)) void __rh_lock(const volatile void *address);
__attribute__((weak)) void __rh_unlock(const volatile void *address);

#define NAMED(what, event)                                                                         \
    HIDDEN void __rh_named_##what(const volatile void *address);                                   \
    void __rh_named_##what(const volatile void *address)                                           \
    {                                                                                              \
        if (event)                                                                                 \
            event(address);                                                                        \
    }
NAMED(acquire, __rh_happens_after)
NAMED(release, __rh_happens_before)
NAMED(lock, __rh_lock)
NAMED(unlock, __rh_unlock)

HIDDEN void __rh_named_thread(const void *start, const void *argument);
void __rh_named_thread(const void *start, const void *argument)
{
    (void)start;
    (void)argument;
}

/*
 * The loader runs constructors and destructors under its lock, one image at a time: what those of
 * one image do comes before those of the next. The first and the last of an image's own say so, by
 * an object that all images know.
 */
static void begin_under_loader(void)
{
    if (__rh_happens_after)
        __rh_happens_after((const volatile void *)__rh_image_register);
}

static void end_under_loader(void)
{
    if (__rh_happens_before)
        __rh_happens_before((const volatile void *)__rh_image_register);
}

__attribute__((constructor(101))) static void register_image(void)
{
    if (__rh_image_register)
        __rh_image_register(&__rh_image);
    begin_under_loader();
}

/* Behind the program's own, which the link puts before this object. */
__attribute__((constructor)) static void is_constructed(void)
{
    end_under_loader();
}

__attribute__((destructor)) static void begin_to_destruct(void)
{
    begin_under_loader();
}

__attribute__((destructor(101))) static void unregister_image(void)
{
    end_under_loader();
    if (__rh_image_unregister)
        __rh_image_unregister(&__rh_image);
}
