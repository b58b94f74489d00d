# Writes the commit of SOURCE to OUT, and only touches the file when the commit changes. Runs at build time: a commit
# looked up at configure time would be wrong after the next commit.
set(commit "")
find_package(Git QUIET)
if(GIT_FOUND)
    # Sources unpacked inside another project's repository must not report that repository's commit.
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --show-toplevel
        WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE top ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH ${SOURCE} source)
    if(top STREQUAL source)
        execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12
            WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
endif()
if(NOT commit)
    set(commit unknown)
endif()
set(text "#define TH_BUILD_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
    file(WRITE ${OUT} "${text}")
endif()
