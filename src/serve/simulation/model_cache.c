#include <throng/serve/model_cache.h>

#include <throng/serve/model_registry.h>

#include <stdlib.h>
#include <string.h>

static th_result add(th_company *company, const th_company_desc *desc, const char *name, th_error *err)
{
    char path[PATH_MAX];
    th_rig *rig;
    const uint32_t m = company->count;
    th_result result = th_catalogue_find(desc->catalogue, name, path, err);
    if (result == TH_OK)
        result = desc->load(desc->load_ctx, path, &company->models[m], err);
    if (result != TH_OK)
        return result;
    company->count++;
    th_rig_desc rig_desc = desc->rig;
    rig_desc.model = company->models[m];
    rig_desc.interpolation = company->interpolation;
    result = th_rig_create(&rig_desc, &rig, err);
    if (result != TH_OK)
        return result;
    company->rigs[m] = rig;
    company->bytes += th_rig_bytes(rig);
    strcpy(company->names[m], name);
    return TH_OK;
}

th_result th_company_create(const th_company_desc *desc, const th_settings *settings, th_company **out, th_error *err)
{
    *out = NULL;
    th_company *company = calloc(1, sizeof *company);
    if (!company)
        return th_fail(err, TH_ERR_MEMORY, "no memory for models");
    atomic_init(&company->users, 1);
    company->interpolation = settings->interpolation;
    for (uint32_t m = 0; m < settings->model_count; m++) {
        th_result result = add(company, desc, settings->models[m], err);
        if (result != TH_OK) {
            th_company_release(company);
            return result;
        }
    }
    *out = company;
    return TH_OK;
}

void th_company_use(th_company *company)
{
    atomic_fetch_add_explicit(&company->users, 1, memory_order_relaxed);
}

void th_company_release(th_company *company)
{
    if (!company || atomic_fetch_sub_explicit(&company->users, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t m = 0; m < company->count; m++) {
        th_rig_destroy((th_rig *)company->rigs[m]);
        th_model_free(company->models[m]);
    }
    free(company);
}

bool th_company_fits(const th_company *company, const th_settings *settings)
{
    bool fits = company->count == settings->model_count && company->interpolation == settings->interpolation;
    for (uint32_t m = 0; fits && m < company->count; m++)
        fits = strcmp(company->names[m], settings->models[m]) == 0;
    return fits;
}
