/* SPDX-License-Identifier: Apache-2.0 */
/* A function in C compiled without call frame information, but with frame pointers. */
void pass_in_c(void (*function)(void *), void *arg);
void pass_in_c(void (*function)(void *), void *arg)
{
    volatile char room[40];
    room[0] = 1;
    function(arg);
    room[1] = room[0];
}
