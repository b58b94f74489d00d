# Writes OUT, C, with the bytes of FILE as th_embedded_NAME.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "#include \"embedded.h\"\n
const unsigned char th_embedded_${NAME}[] = {${bytes}};\n
const size_t th_embedded_${NAME}_size = sizeof th_embedded_${NAME};\n")
