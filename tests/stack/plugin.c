/* SPDX-License-Identifier: Apache-2.0 */
/* A library that comes and goes: calls back through a frame whose size the build chooses, so that
 * two builds have the same code addresses but not the same rows. */
void plugin_call(void (*function)(void *), void *arg);

__attribute__((noinline)) void plugin_call(void (*function)(void *), void *arg)
{
    volatile char room[PLUGIN_ROOM];
    room[0] = 1;
    function(arg);
    room[1] = room[0];
}
