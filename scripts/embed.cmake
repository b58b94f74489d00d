# th_embed(target file name): the bytes of a file become part of a target, as
#   const unsigned char th_embedded_NAME[]; const size_t th_embedded_NAME_size;
# which a header or source of the target declares.
function(th_embed target file name)
    cmake_path(ABSOLUTE_PATH file)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.c)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DNAME=${name} -DOUT=${out} -P ${th_embed_bytes_script}
        DEPENDS ${file} ${th_embed_bytes_script}
        COMMENT "Embedding ${file}" VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()

set(th_embed_bytes_script ${CMAKE_CURRENT_LIST_FILE})
if(CMAKE_SCRIPT_MODE_FILE)
    # A string, which takes a compiler a tenth of the time that a list of numbers takes: 0.2 s for a megabyte.
    file(READ ${FILE} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
    file(WRITE ${OUT} "#include <stddef.h>\n
#pragma GCC diagnostic ignored \"-Woverlength-strings\"
extern const unsigned char th_embedded_${NAME}[];
extern const size_t th_embedded_${NAME}_size;
const unsigned char th_embedded_${NAME}[] = \"${bytes}\";
const size_t th_embedded_${NAME}_size = sizeof th_embedded_${NAME} - 1;\n")
endif()
