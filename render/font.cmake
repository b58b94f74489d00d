# Writes OUT, C, with the bytes of FILE as th_hud_font_file.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "extern const unsigned char th_hud_font_file[];\nconst unsigned char th_hud_font_file[] = {${bytes}};\n")
