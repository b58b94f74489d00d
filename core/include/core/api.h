/* What every public header begins and ends with: C linkage for C++, and symbols that a shared library shows. All other
 * symbols are hidden. */
#ifndef THRONG_CORE_API_H
#define THRONG_CORE_API_H

#ifdef __cplusplus
#define TH_API_BEGIN                                                                                                   \
    extern "C" {                                                                                                       \
    _Pragma("GCC visibility push(default)")
#define TH_API_END                                                                                                     \
    _Pragma("GCC visibility pop")                                                                                      \
    }
#else
#define TH_API_BEGIN _Pragma("GCC visibility push(default)")
#define TH_API_END   _Pragma("GCC visibility pop")
#endif

#endif
