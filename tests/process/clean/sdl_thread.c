/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of SDL2's move one player under an SDL_mutex; SDL's atomics count them out. */
// NEEDS: pkg:sdl2
#include <SDL.h>
#undef main

#include "../../racemob/program.h"

struct player {
    SDL_mutex *lock;
    SDL_sem *done;
    int x, y;
};

static int move(void *data)
{
    struct player *p = data;
    for (int i = 0; i < 200; i++) {
        SDL_LockMutex(p->lock);
        p->x += next();
        p->y -= p->x;
        SDL_UnlockMutex(p->lock);
    }
    SDL_SemPost(p->done);
    return 0;
}

int main(void)
{
    struct player *p = calloc(1, sizeof *p);
    p->lock = SDL_CreateMutex();
    p->done = SDL_CreateSemaphore(0);
    SDL_Thread *a = SDL_CreateThread(move, "a", p), *b = SDL_CreateThread(move, "b", p);
    SDL_SemWait(p->done);
    SDL_SemWait(p->done);
    keep((unsigned long)(p->x + p->y));
    SDL_WaitThread(a, NULL);
    SDL_WaitThread(b, NULL);
    SDL_DestroySemaphore(p->done);
    SDL_DestroyMutex(p->lock);
    free(p);
    return 0;
}
