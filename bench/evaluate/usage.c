/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command and writes its wall, user and system time in seconds and its peak of memory in
 * kilobytes to a file: usage FILE COMMAND...
 *
 * Stands between `racehive run` and the program, so that the program is measured and not the hive's
 * part of a run. It is linked without a build id, since `racehive run` wants that to be the
 * program's, if there is one.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: usage FILE COMMAND...\n");
        return 2;
    }
    double began = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror("usage");
        return 1;
    }
    double wall = now() - began;
    FILE *out = fopen(argv[1], "w");
    if (!out ||
        fprintf(out, "%.6f %.6f %.6f %ld\n", wall, seconds(used.ru_utime), seconds(used.ru_stime),
                used.ru_maxrss) < 0 ||
        fclose(out) != 0) {
        perror(argv[1]);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
