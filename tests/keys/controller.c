/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls a run through its control page: starts PROGRAM with no task, asks for SITE while it
 * runs, waits until that is done, lets the program end, and prints the events. Usage: controller
 * FILE SITE PROGRAM. The program runs until its standard input closes.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "racehive/control.h"

static const char *const names[] = {
#define NAME(id, name, words) name,
    RH_EVENTS(NAME)
#undef NAME
};

static struct rh_shared *make_page(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct rh_shared)))
        return NULL;
    struct rh_shared *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        return NULL;
    page->magic = RH_SHARED_MAGIC;
    page->version = RH_SHARED_VERSION;
    return page;
}

static pid_t start(const char *path, const char *program, int *input)
{
    int ends[2];
    char options[4096];
    if (pipe(ends))
        return -1;
    snprintf(options, sizeof options, "detector=count:control=%s:log_path=%s.log", path, path);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[0], 0);
        close(ends[0]);
        close(ends[1]);
        setenv("RACEHIVE_OPTIONS", options, 1);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    *input = ends[1];
    return child;
}

static void ask(struct rh_control *control, uint32_t site)
{
    control->tasks[0] = (struct rh_task){.id = 7, .first = {0, site}, .second = {0, site}};
    control->task_count = 1;
    atomic_fetch_add(&control->generation, 1);
    syscall(SYS_futex, &control->generation, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int wait_applied(struct rh_control *control)
{
    for (int i = 0; i < 12000; i++) {
        if (atomic_load(&control->applied) == 1)
            return 0;
        usleep(10000);
    }
    fprintf(stderr, "the run did not apply its task\n");
    return 1;
}

static void print_events(const struct rh_ring *ring, uint64_t lost)
{
    uint64_t head = atomic_load(&ring->head);
    for (uint64_t n = 0; n < head && n < RH_RING_SIZE; n++) {
        const struct rh_event *e = &ring->events[n];
        if (atomic_load(&e->sequence) == n + 1)
            printf("%s %llu %llu %llu\n", names[e->kind], (unsigned long long)e->words[0],
                   (unsigned long long)e->words[1], (unsigned long long)e->words[2]);
    }
    printf("lost %llu\n", (unsigned long long)lost);
}

int main(int argc, char **argv)
{
    struct rh_shared *page = argc == 4 ? make_page(argv[1]) : NULL;
    int input, status;
    if (!page)
        return 2;
    pid_t child = start(argv[1], argv[3], &input);
    ask(&page->control, (uint32_t)atoi(argv[2]));
    int bad = wait_applied(&page->control);
    usleep(50000); /* the more it runs the more it counts; none of it is needed */
    close(input);
    waitpid(child, &status, 0);
    print_events(&page->ring, atomic_load(&page->losses[RH_LOSS_EVENT]));
    return bad || status != 0;
}
