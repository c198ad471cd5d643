/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the runtime: counts the instrumented images of the process and the calls of one
 * wrapped function, for test programs to ask.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

struct image;

static int image_count, lock_count;

void __rh_image_register(struct image *image)
{
    (void)image;
    image_count++;
}

void __rh_image_unregister(struct image *image)
{
    (void)image;
    image_count--;
}

int __rh_fake_images(void)
{
    return image_count;
}

int __rh_fake_locks(void)
{
    return lock_count;
}

#ifdef FAKE_STATIC
/* Weak, since a function that the program defines itself is not wrapped. */
__attribute__((weak)) int __real_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    lock_count++;
    return __real_pthread_mutex_lock(mutex);
}
#else
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);
    if (!real)
        real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    lock_count++;
    return real(mutex);
}
#endif
