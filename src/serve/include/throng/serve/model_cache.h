/* Models, loaded and compiled: what is expensive about a crowd and does not depend on its size. Crowds that differ in
 * number, threads or clips share one. */
#ifndef THRONG_SERVE_MODEL_CACHE_H
#define THRONG_SERVE_MODEL_CACHE_H

#include <throng/anim/compiled_model.h>
#include <throng/core/api.h>
#include <throng/serve/settings.h>

#include <stdatomic.h>

TH_API_BEGIN

/* Loads what the catalogue calls by a name. Any thread. */
typedef th_result th_load_fn(void *ctx, const char *path, th_model **out, th_error *err);

struct th_catalogue;

/* What the server was started with and does not change. */
typedef struct th_company_desc {
    const struct th_catalogue *catalogue;
    th_load_fn *load;
    void *load_ctx;
    th_rig_desc rig; /* its model and interpolation are not looked at */
} th_company_desc;

/* Read only, but for the count of users. */
typedef struct th_company {
    char names[TH_SETTINGS_MODELS][TH_SETTINGS_NAME];
    th_interpolation interpolation;
    th_model *models[TH_SETTINGS_MODELS];
    const th_rig *rigs[TH_SETTINGS_MODELS];
    uint32_t count;
    size_t bytes; /* of the rigs */
    atomic_uint users;
} th_company;

/* Begins with one user. May take seconds. */
th_result th_company_create(const th_company_desc *desc, const th_settings *settings, th_company **out, th_error *err);

/* A user more, by one who is; a user less, and the last one frees it. NULL is fine. Any thread. */
void th_company_use(th_company *company);
void th_company_release(th_company *company);

bool th_company_fits(const th_company *company, const th_settings *settings);

TH_API_END

#endif
