/* The one answer throng-import gives: a model, or why there is none.
 *
 * The program lives for one file, so giving up is sending the reason and ending: functions of the importer return what
 * they make and have no failures of their own. Memory is given back by ending as well. */
#ifndef TH_ANIM_IMPORT_IPC_H
#define TH_ANIM_IMPORT_IPC_H

#include <throng/anim/model.h>

/* First of all: keeps standard output for the answer alone. What Assimp prints there goes nowhere. */
void ipc_open(void);

_Noreturn void ipc_send_model(const th_model *model);
__attribute__((format(printf, 2, 3))) _Noreturn void give_up(th_result code, const char *format, ...);

/* Said wherever memory runs out: the limit was set by whoever started this program. */
_Noreturn void give_up_memory(void);

#endif
