/* SPDX-License-Identifier: Apache-2.0 */
/* What makes the process opaque: see opaque.h. */
#include "opaque.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define BIT(why) (1u << (why))

static _Atomic uint32_t reasons;
static _Atomic bool has_openmp; /* LLVM's library */
static _Atomic bool openmp_is_followed;
static _Atomic bool has_allocator;
static _Atomic bool frees_unseen;
/* Threads that have begun to load a library and not checked since. */
static _Atomic uint32_t loading;
static _Thread_local bool is_loading __attribute__((tls_model("initial-exec")));

void rt_opaque(enum rh_opaque why)
{
    if (!(atomic_load_explicit(&reasons, memory_order_relaxed) & BIT(why)))
        atomic_fetch_or(&reasons, BIT(why));
}

void rt_opaque_follow_openmp(bool all)
{
    atomic_store(&openmp_is_followed, all);
}

uint32_t rt_opaque_reasons(void)
{
    bool is_unfollowed = atomic_load(&has_openmp) && !atomic_load(&openmp_is_followed);
    bool is_library =
        atomic_load(&loading) || (atomic_load(&has_allocator) && atomic_load(&frees_unseen));
    return atomic_load(&reasons) | (is_library ? BIT(RH_OPAQUE_LIBRARY) : 0) |
           (is_unfollowed ? BIT(RH_OPAQUE_OPENMP) : 0);
}

void rt_opaque_frees(void)
{
    atomic_store(&frees_unseen, true);
}

/* --- libraries --- */

/*
 * Libraries by the beginning of their file names that order threads only through functions we wrap,
 * or in ways that no program can wait for. Whoever adds one reads its source for atomics, futexes
 * and volatile flags, and for threads that call functions of the program. Debian 12's sources were
 * searched for these (of libp11-kit its code alone), and the code of its packages has locked
 * instructions only where it is said.
 */

/* The C library with what it loads, and the compiler's. */
static const char *const c_library[] = {
    "ld-linux",     "ld-2.",       "ld.so",       "libc.so",       "libc-2.",       "libm.so",
    "libm-2.",      "libmvec",     "libpthread",  "libdl.so",      "libdl-2.",      "librt.so",
    "librt-2.",     "libutil.so",  "libutil-2.",  "libresolv",     "libnss_",       "libgcc_s.so",
    "libstdc++.so", "libcrypt.so", "libcrypt-2.", "linux-vdso.so", "linux-gate.so",
};
/* No threads, locks or atomics; those of zlib's table of sums are not compiled. Some keep pointers
 * to the code that suits the processor, which every thread sets alike. */
static const char *const plain[] = {
    "libz.so",       "libbz2.so",      "liblz4.so",      "libsnappy.so", "libbrotli",
    "libdeflate.so", "libexpat.so",    "libexpatw",      "libidn2.so",   "libtasn1.so",
    "libpsl.so",     "libnghttp2.so",  "libssh2.so",     "librtmp.so",   "libpng16.so",
    "libjpeg.so",    "libtiff.so",     "libfreetype.so", "libyaml-0",    "libtinfo.so",
    "libncurses.so", "libncursesw.so", "libreadline.so", "libedit.so",   "libelf.so",
    "libmd.so",      "libuuid.so",     "libblkid.so",    "libgmp.so",    "libnettle.so",
    "libhogweed.so",
};
/* Mutexes, read-write locks, conditions and once of pthread. libgnutls also counts, by locked
 * instructions, who uses a set of priorities, which nobody waits for. */
static const char *const locking[] = {
    "libffi.so",   "libunistring.so", "libpcre2-",     "libpcre.so",   "libxml2.so",
    "liblcms2.so", "libbsd.so",       "libp11-kit.so", "libgnutls.so",
};
/* Threads made by pthread_create, under pthread's locks; of the program they call its allocator
 * alone. libcurl has a lock of locked instructions around its initialisation, and one around a jump
 * on alarm: both order whoever comes first, which a program cannot rely on. */
static const char *const threaded[] = {
    "liblzma.so", "libzstd.so", "libwebp.so", "libcurl.so", "libcurl-",
};
/* The locks that the program gives it, and writes to a pipe or an eventfd that wake its loop. */
static const char *const events[] = {"libevent-", "libevent_"};

/*
 * Allocators. By the standard, all that they order is that a block was given back before it is
 * another's; that the wrapper of free tells. What their own locks and atomics order besides is an
 * accident that no program may rely on. But blocks may be given back unseen, see frees_unseen.
 */
static const char *const allocators[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};

static bool is_named(const char *path, const char *const *names, size_t count)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

#define IS_NAMED(path, names) is_named(path, names, sizeof(names) / sizeof(names)[0])

static bool is_harmless(const char *path)
{
    return IS_NAMED(path, c_library) || IS_NAMED(path, plain) || IS_NAMED(path, locking) ||
           IS_NAMED(path, threaded) || IS_NAMED(path, events);
}

static bool is_allocator(const char *path)
{
    return IS_NAMED(path, allocators);
}

/* LLVM's OpenMP tells its tool what it does, once it is used: see intercept/ompt.c. */
static bool is_openmp(const char *path)
{
    static const char *const names[] = {"libomp.so", "libomp-"};
    return IS_NAMED(path, names);
}

struct search {
    uintptr_t code;
    bool found;
};

static int look_in_openmp(struct dl_phdr_info *image, size_t size, void *arg)
{
    (void)size;
    struct search *search = arg;
    for (int i = 0; image->dlpi_name && is_openmp(image->dlpi_name) && i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &image->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && search->code - (image->dlpi_addr + p->p_vaddr) < p->p_memsz)
            search->found = true;
    }
    return search->found;
}

bool rt_opaque_is_openmp(uintptr_t code)
{
    struct search search = {.code = code};
    dl_iterate_phdr(look_in_openmp, &search);
    return search.found;
}

/* Notes are padded to their segment's alignment; ours asks for no more than four bytes. */
static bool has_our_note(const char *at, const char *end)
{
    static const char owner[] = "Racehive";
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        const char *name = at + sizeof *note;
        size_t name_size = (note->n_namesz + 3u) & ~3u, text_size = (note->n_descsz + 3u) & ~3u;
        if (name_size + text_size > (size_t)(end - name))
            return false;
        if (note->n_namesz == sizeof owner && memcmp(name, owner, sizeof owner) == 0)
            return *(const uint32_t *)(name + name_size) == RH_IMAGE_VERSION;
        at = name + name_size + text_size;
    }
    return false;
}

static bool has_keys(const struct dl_phdr_info *image)
{
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &image->dlpi_phdr[i];
        const char *notes = (const char *)(image->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_NOTE && has_our_note(notes, notes + p->p_memsz))
            return true;
    }
    return false;
}

/* The executable has no name. */
static int check_image(struct dl_phdr_info *image, size_t size, void *arg)
{
    (void)size, (void)arg;
    const char *name = image->dlpi_name;
    if (!name || !name[0] || is_harmless(name) || has_keys(image))
        return 0;
    if (is_openmp(name) || is_allocator(name)) {
        atomic_store(is_openmp(name) ? &has_openmp : &has_allocator, true);
        return 0;
    }
    rt_opaque(RH_OPAQUE_LIBRARY);
    return 1;
}

void rt_opaque_check_images(void)
{
    dl_iterate_phdr(check_image, NULL);
    if (!is_loading)
        return;
    is_loading = false;
    atomic_fetch_sub(&loading, 1);
}

void rt_opaque_loaded(void)
{
    if (rt_unlikely(is_loading))
        rt_opaque_check_images();
}

/* Constructors of one library may load the next; all of the first is there by then. */
void rt_opaque_loading(const char *path)
{
    if (is_loading)
        rt_opaque_check_images();
    if (!path || is_harmless(path))
        return;
    is_loading = true;
    atomic_fetch_add(&loading, 1);
}
