# th_embed_shaders(name file...): makes a library `name` with the text of every file, and a header of the same name
# without th_. The header is rewritten when the list of files changes, the texts when a file changes.
function(th_embed_shaders name)
    string(REGEX REPLACE "^th_" "" header ${name})
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${name})
    set(declarations "#include \"shader.h\"\n")
    set(paths)
    foreach(file IN LISTS ARGN)
        cmake_path(GET file FILENAME leaf)
        string(MAKE_C_IDENTIFIER ${leaf} identifier)
        string(APPEND declarations "extern const th_shader th_shader_${identifier};\n")
        cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE path)
        list(APPEND paths ${path})
    endforeach()
    file(CONFIGURE OUTPUT ${out}/${header}.h CONTENT "${declarations}")
    add_custom_command(OUTPUT ${out}/texts.c
        COMMAND ${CMAKE_COMMAND} "-DFILES=${paths}" -DOUT=${out}/texts.c -P ${th_embed_script}
        DEPENDS ${paths} ${th_embed_script} ${out}/${header}.h
        COMMENT "Embedding ${name}" VERBATIM)
    add_library(${name} STATIC ${out}/texts.c)
    target_include_directories(${name} PUBLIC ${out} ${th_shader_folder})
    target_link_libraries(${name} PUBLIC th_codegen)
endfunction()

set(th_shader_folder ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
set(th_embed_script ${CMAKE_CURRENT_LIST_DIR}/texts.cmake CACHE INTERNAL "")
