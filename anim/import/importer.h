/* How throng-import ends, and the memory of its one file.
 *
 * The program handles one file. Giving up means to send the reason and to exit, so functions of the importer return
 * their result and report no errors. The exit also frees all memory. */
#ifndef TH_ANIM_IMPORT_IMPORTER_H
#define TH_ANIM_IMPORT_IMPORTER_H

#include <core/error.h>

#include <stddef.h>

struct scene;

__attribute__((format(printf, 2, 3))) _Noreturn void give_up(th_result code, const char *format, ...);

/* For all allocation failures: the caller of this program set the memory limit. */
_Noreturn void give_up_memory(void);

/* Zeroed memory that lives as long as the model. */
#define make(s, type, count) ((type *)make_array((s), (count), sizeof(type)))
void *make_array(struct scene *s, size_t count, size_t size);
__attribute__((format(printf, 2, 3))) const char *make_string(struct scene *s, const char *format, ...);

#endif
