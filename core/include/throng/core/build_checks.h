/* Whether a build looks at what the driver is told, and at who writes to what the GPU reads: one with asserts does. */
#ifndef THRONG_CORE_BUILD_CHECKS_H
#define THRONG_CORE_BUILD_CHECKS_H

#ifdef NDEBUG
#define TH_CHECKS false
#else
#define TH_CHECKS true
#endif

#endif
