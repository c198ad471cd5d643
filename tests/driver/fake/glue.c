/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the runtime's glue.c: every image tells the runtime of itself, if there is one. */
struct image {
    int unused;
};

__attribute__((weak)) void __rh_image_register(struct image *image);
__attribute__((weak)) void __rh_image_unregister(struct image *image);

static struct image image;

__attribute__((constructor)) static void enter_image(void)
{
    if (__rh_image_register)
        __rh_image_register(&image);
}

__attribute__((destructor)) static void leave_image(void)
{
    if (__rh_image_unregister)
        __rh_image_unregister(&image);
}
