/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program under a restriction that hardened systems use. Ends with 77 when the kernel does
 * not know it. Usage: sandbox mdwe|no-patching|no-membarrier PROGRAM [ARGUMENT...]
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
enum { MDWE_REFUSE_EXEC_GAIN = 1, SKIP = 77 };

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define DENY  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int apply(struct sock_filter *rows, size_t count)
{
    struct sock_fprog filter = {.len = (unsigned short)count, .filter = rows};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter, 0, 0))
        return SKIP;
    return 0;
}

/* No page may be writable and executable, and no file may be opened for writing and reading: that
 * is /proc/self/mem for us; the log is only written. */
static int deny_patching(void)
{
    struct sock_filter rows[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        LOAD(args[2]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_WRITE | PROT_EXEC, 0, 6),
        DENY,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
        LOAD(args[2]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 3),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1),
        DENY,
        ALLOW,
    };
    return apply(rows, sizeof rows / sizeof rows[0]);
}

static int deny_membarrier(void)
{
    struct sock_filter rows[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        DENY,
        ALLOW,
    };
    return apply(rows, sizeof rows / sizeof rows[0]);
}

static int restrict_self(const char *mode)
{
    if (strcmp(mode, "mdwe") == 0)
        return prctl(PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) ? SKIP : 0;
    if (strcmp(mode, "no-patching") == 0)
        return deny_patching();
    return deny_membarrier();
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int status = restrict_self(argv[1]);
    if (status)
        return status;
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
