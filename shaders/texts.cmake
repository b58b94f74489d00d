# Writes the C file OUT with the texts of FILES, as numbers: string literals have a length limit and need escapes.
set(text "#include \"shader.h\"\n")
foreach(file IN LISTS FILES)
    cmake_path(GET file FILENAME leaf)
    string(MAKE_C_IDENTIFIER ${leaf} identifier)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND text "static const char ${identifier}[] = {${bytes}0};\n"
        "extern const th_shader th_shader_${identifier};\n"
        "const th_shader th_shader_${identifier} = {\"${leaf}\", ${identifier}};\n")
endforeach()
file(WRITE ${OUT} "${text}")
