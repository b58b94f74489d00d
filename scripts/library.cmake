# th_library(NAME MODULE...): one library of the objects of our modules, for find_package(throng) as throng::NAME and for
# pkg-config as NAME. Static unless BUILD_SHARED_LIBS says otherwise. HEADER: in include/throng, installed with it. NEEDS:
# libraries to link, by name.
function(th_library name)
    cmake_parse_arguments(arg "" "HEADER" "MODULES;NEEDS" ${ARGN})
    add_library(lib${name})
    add_library(throng::${name} ALIAS lib${name})
    # As SameMinorVersion below: programs of another minor version before 1.0, and of another major one later, need another
    # library.
    string(REGEX MATCH "^0\\.[0-9]+|^[0-9]+" soversion ${PROJECT_VERSION})
    set_target_properties(lib${name} PROPERTIES
        OUTPUT_NAME ${name} EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${soversion} LINKER_LANGUAGE C)
    foreach(module ${arg_MODULES})
        target_sources(lib${name} PRIVATE $<TARGET_OBJECTS:${module}>)
    endforeach()
    if(NOT BUILD_SHARED_LIBS)
        add_custom_command(TARGET lib${name} POST_BUILD VERBATIM COMMAND
            ${PROJECT_SOURCE_DIR}/scripts/own_symbols.sh $<TARGET_FILE:lib${name}> ${CMAKE_NM} ${CMAKE_OBJCOPY})
    endif()
    target_include_directories(lib${name} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(lib${name} PUBLIC Threads::Threads PRIVATE ${arg_NEEDS})
    install(FILES include/throng/${arg_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/throng OPTIONAL)
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
        "Libs: -L\${libdir} -l${name}$<$<NOT:$<BOOL:${BUILD_SHARED_LIBS}>>: ${libs} -pthread>"
        "")
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc CONTENT "${pc}")
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
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
