/* Only stb's code. */
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>
