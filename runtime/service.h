/*
 * The runtime's own thread, which exists only while there is something to do besides the program's
 * own doing: following the control page, or flipping keys at random for a test.
 */
#ifndef RH_RUNTIME_SERVICE_H
#define RH_RUNTIME_SERVICE_H

#include "rt.h"

/* Starts the thread if the options ask for one. Also called in a forked child. */
RT_HIDDEN void rt_service_start(void);
/* Switches on what the options ask for at the start. False: no key can be switched here. */
RT_HIDDEN bool rt_service_first_keys(void);
/* Does the calling thread belong to us? */
RT_HIDDEN bool rt_service_is_self(void);

#endif
