# What is also run for other machines, in an emulator: no Criterion.
add_executable(check_kernels unit/anim/check_kernels.c fixtures/fixture_crowd.c fixtures/fixture_morph.c
    fixtures/random_model.c)
target_link_libraries(check_kernels PRIVATE th::anim th_places th_warnings m)
set(models)
if(CMAKE_CROSSCOMPILING) # an emulator is slow
    set(models 200)
endif()
add_test(NAME kernels COMMAND check_kernels ${golden}/kernels.txt ${models})
# The bytes of the embedded human depend on no compiler, processor or C library.
if(NOT THRONG_HUMAN)
    add_test(NAME human_bytes
        COMMAND sh -c [["$@" again.thm && cmp again.thm human.thm || exit 1
            [ -z "${THRONG_GOLDEN_UPDATE:-}" ] || sha256sum human.thm >"$0"
            sha256sum --check "$0"]]
            ${golden}/human.sha256 ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:human>
        WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
endif()
if(CMAKE_OBJDUMP AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_test(NAME streams COMMAND ${CMAKE_CURRENT_LIST_DIR}/check_streams.sh ${CMAKE_OBJDUMP} $<TARGET_FILE:th_anim>)
endif()
