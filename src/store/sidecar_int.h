/* What the writer and the reader of sidecars share: the schema in SQL and the names in it. */
#ifndef RH_STORE_SIDECAR_INT_H
#define RH_STORE_SIDECAR_INT_H

#include "store/sidecar.h"

/* sidecar.h documents it. */
extern const char rh_sidecar_schema[];

extern const char *const rh_sidecar_meta_names[RH_SIDECAR_META_COUNT];

#endif
