/* SPDX-License-Identifier: Apache-2.0 */
/* Makes databases of a format, tells their versions, and takes old ones to the newest version. */
#include "store/db.h"
#include "store/db_internal.h"

static int newest(const struct rh_db_format *format)
{
    return format->oldest + format->step_count - 1;
}

/* Takes every step after version `from`, and notes the version that is reached. */
static enum rh_status take_steps(struct rh_db *db, const struct rh_db_format *format, int from)
{
    enum rh_status status = RH_OK;
    for (int i = from - format->oldest + 1; i < format->step_count && status == RH_OK; i++) {
        const struct rh_db_migration *step = &format->steps[i];
        if (step->define)
            status = rh_db_define(db, step->define);
        if (status == RH_OK && step->convert)
            status = step->convert(db);
    }
    return status == RH_OK ? db->backend->set_format(db, format->id, newest(format)) : status;
}

enum rh_status rh_db_make(struct rh_db *db, const struct rh_db_format *format)
{
    return take_steps(db, format, format->oldest - 1);
}

static enum rh_status fail_version(const struct rh_db *db, const struct rh_db_format *format,
                                   int64_t version)
{
    if (version > newest(format))
        return rh_fail(RH_ERR_INPUT,
                       "cannot read %s: its format is version %lld and this racehive (%s) knows up "
                       "to %d: update racehive",
                       db->name, (long long)version, RH_VERSION, newest(format));
    if (version < 1)
        return rh_db_fail_damaged(db, "format version");
    return rh_fail(RH_ERR_INPUT,
                   "cannot read %s: its format is version %lld, of an older racehive: %s", db->name,
                   (long long)version, format->if_too_old);
}

static enum rh_status read_version(struct rh_db *db, const struct rh_db_format *format,
                                   int *version)
{
    int64_t id, number;
    enum rh_status status = db->backend->get_format(db, &id, &number);
    if (status != RH_OK)
        return status;
    if (id != format->id)
        return rh_fail(RH_ERR_INPUT, "cannot read %s: it is not a %s", db->name, format->kind);
    if (number < format->oldest || number > newest(format))
        return fail_version(db, format, number);
    *version = (int)number;
    return RH_OK;
}

enum rh_status rh_db_check_format(struct rh_db *db, const struct rh_db_format *format,
                                  bool *is_current)
{
    int version;
    enum rh_status status = read_version(db, format, &version);
    *is_current = status == RH_OK && version == newest(format);
    return status;
}

/* The version is read again: another process may have migrated the database meanwhile. */
static enum rh_status migrate(struct rh_db *db, const struct rh_db_format *format)
{
    int version;
    enum rh_status status = read_version(db, format, &version);
    if (status == RH_OK && version < newest(format))
        status = take_steps(db, format, version);
    return status;
}

enum rh_status rh_db_migrate(struct rh_db *db, const struct rh_db_format *format)
{
    enum rh_status status = rh_db_begin(db, true);
    return status == RH_OK ? rh_db_end(db, migrate(db, format)) : status;
}
