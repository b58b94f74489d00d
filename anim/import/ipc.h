/* The one answer of throng-import: a model, or the reason why there is none.
 *
 * The program handles one file. Giving up means to send the reason and to exit, so functions of the importer return
 * their result and report no errors. The exit also frees all memory. */
#ifndef TH_ANIM_IMPORT_IPC_H
#define TH_ANIM_IMPORT_IPC_H

#include <throng/anim/model.h>

/* Call first. Reserves standard output for the answer; anything that Assimp prints there is discarded. No other file
 * stays open but standard error. */
void ipc_open(void);

_Noreturn void ipc_send_model(const th_model *model);
__attribute__((format(printf, 2, 3))) _Noreturn void give_up(th_result code, const char *format, ...);

/* For all allocation failures: the caller of this program set the memory limit. */
_Noreturn void give_up_memory(void);

#endif
