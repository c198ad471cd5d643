/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of SDL2's move one player without a lock. */
// NEEDS: pkg:sdl2
#include <SDL.h>
#undef main

#include "../../racemob/program.h"

struct player {
    int x, y;
};

static int move(void *data)
{
    struct player *p = data;
    for (int i = 0; i < 100; i++) {
        p->x += next(); // RACE
        nap(50);
    }
    return 0;
}

int main(void)
{
    struct player *p = calloc(1, sizeof *p);
    SDL_Thread *a = SDL_CreateThread(move, "a", p), *b = SDL_CreateThread(move, "b", p);
    SDL_WaitThread(a, NULL);
    SDL_WaitThread(b, NULL);
    keep((unsigned long)p->x);
    free(p);
    return 0;
}
