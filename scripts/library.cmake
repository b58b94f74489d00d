# th_library(NAME MODULE...): one library of the objects of our modules, for find_package(throng) as throng::NAME and for
# pkg-config as NAME. STATIC, or as BUILD_SHARED_LIBS says. HEADER: in include/throng, installed with it. NEEDS: libraries
# to link, by name. ASSERTS: all but kernels compiled once more, with asserts.
function(th_library name)
    cmake_parse_arguments(arg "ASSERTS;STATIC" "HEADER" "MODULES;NEEDS" ${ARGN})
    set(type STATIC)
    if(BUILD_SHARED_LIBS AND NOT arg_STATIC)
        set(type SHARED)
    endif()
    add_library(lib${name} ${type})
    add_library(throng::${name} ALIAS lib${name})
    # As SameMinorVersion below: programs of another minor version before 1.0, and of another major one later, need another
    # library.
    string(REGEX MATCH "^0\\.[0-9]+|^[0-9]+" soversion ${PROJECT_VERSION})
    set_target_properties(lib${name} PROPERTIES
        OUTPUT_NAME ${name} EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${soversion} LINKER_LANGUAGE C)
    foreach(module ${arg_MODULES})
        set(objects $<TARGET_OBJECTS:${module}>)
        if(arg_ASSERTS)
            th_with_asserts(${module})
            set(objects $<FILTER:${objects},INCLUDE,${th_without_asserts}> $<TARGET_OBJECTS:${module}_debug>)
        endif()
        target_sources(lib${name} PRIVATE ${objects})
    endforeach()
    if(type STREQUAL STATIC)
        add_custom_command(TARGET lib${name} POST_BUILD VERBATIM COMMAND
            ${PROJECT_SOURCE_DIR}/scripts/own_symbols.sh $<TARGET_FILE:lib${name}> ${CMAKE_NM} ${CMAKE_OBJCOPY})
    endif()
    target_include_directories(lib${name} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(lib${name} PUBLIC Threads::Threads PRIVATE ${arg_NEEDS})
    install(FILES include/throng/${arg_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/throng)
    install(TARGETS lib${name} EXPORT throng-targets)

    list(TRANSFORM arg_NEEDS REPLACE "(.+)" "$<$<BOOL:\\1>:-l\\1>" OUTPUT_VARIABLE libs) # some are empty
    list(JOIN libs " " libs)
    # All from where this file is: an installation may be moved.
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE up)
    foreach(folder LIB INCLUDE LIBEXEC)
        set(${folder} "\${prefix}")
        cmake_path(APPEND ${folder} "${CMAKE_INSTALL_${folder}DIR}") # which may be absolute
    endforeach()
    string(JOIN "\n" pc
        "prefix=\${pcfiledir}/${up}"
        "libdir=${LIB}"
        "includedir=${INCLUDE}"
        "importer=${LIBEXEC}/throng/throng-import"
        ""
        "Name: ${name}"
        "Description: ${PROJECT_DESCRIPTION}"
        "Version: ${PROJECT_VERSION}"
        "Cflags: -I\${includedir}"
        "Libs: -L\${libdir} -l${name}$<$<STREQUAL:${type},STATIC>: ${libs} -pthread>"
        "")
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc CONTENT "${pc}")
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# What asserts nothing about a caller: kernels, and bytes.
set(th_without_asserts "kernels/pose_|embedded_|version")

# The other sources of a module, in a release, with asserts: MODULE_debug.
function(th_with_asserts module)
    foreach(property SOURCES SOURCE_DIR LINK_LIBRARIES INCLUDE_DIRECTORIES COMPILE_DEFINITIONS)
        get_target_property(${property} ${module} ${property})
        string(REGEX REPLACE ".*-NOTFOUND$" "" ${property} "${${property}}")
    endforeach()
    list(FILTER SOURCES EXCLUDE REGEX "${th_without_asserts}")
    list(TRANSFORM SOURCES REPLACE "^([^/].*)" "${SOURCE_DIR}/\\1")
    add_library(${module}_debug OBJECT ${SOURCES})
    target_link_libraries(${module}_debug PRIVATE ${LINK_LIBRARIES})
    target_include_directories(${module}_debug PRIVATE ${INCLUDE_DIRECTORIES})
    target_compile_definitions(${module}_debug PRIVATE ${COMPILE_DEFINITIONS})
    target_compile_options(${module}_debug PRIVATE -UNDEBUG)
endfunction()

# What find_package(throng) reads.
function(th_install_package)
    include(CMakePackageConfigHelpers)
    set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/throng)
    set(importer ${CMAKE_INSTALL_LIBEXECDIR}/throng/throng-import)
    configure_package_config_file(scripts/throng-config.cmake.in ${PROJECT_BINARY_DIR}/throng-config.cmake
        INSTALL_DESTINATION ${folder} PATH_VARS importer NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/throng-config-version.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/throng-config.cmake ${PROJECT_BINARY_DIR}/throng-config-version.cmake
        DESTINATION ${folder})
    install(EXPORT throng-targets NAMESPACE throng:: DESTINATION ${folder})
endfunction()
