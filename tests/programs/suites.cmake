# throng from outside, most of it in Python. th_script(NAME FILE ARGUMENT...): a script that may say what it skipped; it starts
# throng, and human. SCREEN: on a display, where there is xvfb-run.
function(th_script name file)
    cmake_parse_arguments(arg "SCREEN" "" "" ${ARGN})
    set(screen)
    if(arg_SCREEN AND XVFB_RUN)
        set(screen ${CMAKE_CURRENT_SOURCE_DIR}/with_screen.sh)
    endif()
    add_custom_target(check_${name} DEPENDS throng human)
    add_test(NAME ${name} COMMAND ${with_skips} ${screen} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/${file}
        ${arg_UNPARSED_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800
        ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;OMP_WAIT_POLICY=passive")
    if(screen)
        set_tests_properties(${name} PROPERTIES RESOURCE_LOCK xvfb)
    endif()
endfunction()
foreach(name baseline cli compare_run external_programs interrupt palettes render schema serve trace fuzz_serve serve_attacks serve_soak
    serve_stop serve_watchdog)
    th_script(${name} ${name}.py $<TARGET_FILE:throng>)
endforeach()
if(NOT THRONG_SANITIZE) # which takes memory of its own, and without limits
    th_script(serve_memory serve_memory.py $<TARGET_FILE:throng>)
    add_library(fail_call MODULE ${CMAKE_CURRENT_LIST_DIR}/fail_call.c)
    set_target_properties(fail_call PROPERTIES C_VISIBILITY_PRESET default)
    target_link_libraries(fail_call PRIVATE th_warnings th_codegen)
    target_compile_options(fail_call PRIVATE -O2) # a jump to vfork(), also where nothing else is optimised
    th_script(failing_calls failing_calls.py $<TARGET_FILE:throng> $<TARGET_FILE:fail_call>)
endif()
# A window, with somebody who uses it (xdotool). Xvfb lets the test read its screen.
th_script(view view.py $<TARGET_FILE:throng> SCREEN)
th_suite(pose th::human PkgConfig::JANSSON NEEDS throng WITH fixture_program)
# What it says, held against golden/documents: help, completion, messages, models.
th_suite(messages th_cli PkgConfig::JANSSON INSIDE NEEDS throng human WITH fixture_document fixture_program)
if(TARGET throng-mpi)
    add_library(fail_allocation MODULE ${CMAKE_CURRENT_LIST_DIR}/fail_allocation.c)
    set_target_properties(fail_allocation PROPERTIES C_VISIBILITY_PRESET default)
    target_link_libraries(fail_allocation PRIVATE th_warnings th_codegen)
    add_test(NAME mpi COMMAND ${with_skips} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/mpi.py
        $<TARGET_FILE:throng-mpi> $<TARGET_FILE:throng> $<TARGET_FILE:fail_allocation>)
    set_tests_properties(mpi PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()

# The manual pages and completion in real shells, against the program's help and its parser.
foreach(name manual completion_bash completion_zsh)
    th_script(${name} check_documents.py $<TARGET_FILE:throng> ${name})
endforeach()
th_script(reference check_reference.py $<TARGET_FILE:throng>)
th_script(integrations check_integrations.py $<TARGET_FILE:throng>)
# The pages in a browser, which also parses every script of theirs.
if(NOT THRONG_SANITIZE)
    th_script(browser ../browser/pages.py $<TARGET_FILE:throng>)
endif()
# Whether the deliberate faults are noticed is for scripts/test long.
find_program(git_path git NO_CACHE)
if(git_path)
    add_test(NAME mutants_apply COMMAND
        ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/mutants/run --check)
endif()
# glTF against an evaluator that shares nothing with us, and whether it would notice.
if(EXISTS ${THRONG_TESTMODELS}/glTF2)
    set(reference ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/gltf_reference.py)
    set(models ${THRONG_TESTMODELS}/glTF2)
    file(GLOB reference_models ${models}/simple_skin/*.gltf ${models}/cameras/*.gltf ${models}/BoxTexcoords-glTF/*.gltf
        ${models}/textureTransform/*.gltf ${models}/2CylinderEngine-glTF-Binary/*.glb)
    add_test(NAME gltf_reference COMMAND sh -c [["$@" ${THRONG_MODELS:+"$THRONG_MODELS"/*.gl*}]]
        gltf_reference ${reference} $<TARGET_FILE:throng> ${CMAKE_CURRENT_SOURCE_DIR}/data/draco.glb
        ${CMAKE_CURRENT_SOURCE_DIR}/data/morph.glb ${reference_models})
    add_test(NAME gltf_reference_notices COMMAND ${reference} --option --interpolation=step $<TARGET_FILE:throng>
        ${models}/simple_skin/simple_skin.gltf)
    set_tests_properties(gltf_reference_notices PROPERTIES PASS_REGULAR_EXPRESSION "0 right, 1 wrong")
endif()

# What is installed.
find_program(SYSTEMD_ANALYZE systemd-analyze)
if(SYSTEMD_ANALYZE)
    add_test(NAME unit
        COMMAND ${SYSTEMD_ANALYZE} security --offline=true --threshold=20 ${PROJECT_BINARY_DIR}/throng.service)
else()
    message(STATUS "systemd-analyze is not installed: the unit is not tested")
endif()
if(NOT THRONG_SANITIZE AND CMAKE_READELF)
    add_test(NAME hardening COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_hardening.sh ${CMAKE_READELF}
        $<TARGET_FILE:throng> $<TARGET_FILE:throng-import>)
endif()
# Every header alone and all of them together, in C and in C++; an installed tree, used from outside.
add_test(NAME headers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_headers.sh "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}"
    ${PROJECT_SOURCE_DIR} core jobs anim runtime render bench src/serve)
if(NOT THRONG_SANITIZE)
    set(screen)
    if(XVFB_RUN)
        set(screen ${CMAKE_CURRENT_SOURCE_DIR}/with_screen.sh)
    endif()
    add_test(NAME install
        COMMAND ${CMAKE_CURRENT_LIST_DIR}/install.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${screen})
endif()
