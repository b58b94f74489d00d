/* TH_BUILD_CHECKS: true in builds with asserts, which check OpenGL calls and writes to memory that the GPU reads. */
#ifndef THRONG_CORE_BUILD_CHECKS_H
#define THRONG_CORE_BUILD_CHECKS_H

#ifdef NDEBUG
#define TH_BUILD_CHECKS false
#else
#define TH_BUILD_CHECKS true
#endif

#endif
