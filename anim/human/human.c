#include <throng/throng.h>

#include <anim/archive.h>

extern const unsigned char th_embedded_human[];
extern const size_t th_embedded_human_size;

th_result th_human_create(th_model **out, th_error *err)
{
    if (!TH_VALID(out))
        return th_fail(err, TH_ERR_USAGE, "th_human_create: out is NULL");
    th_error why;
    th_result result = th_archive_read(th_embedded_human, th_embedded_human_size, out, &why);
    return result == TH_OK ? result : th_fail(err, result, "the embedded character: %s", why.text);
}
