# SPDX-License-Identifier: Apache-2.0
# One way to add a unit test: rh_add_test(name source... LIBS library...).
#
# COST says which tests are begun first: the long ones, in seconds, so that none is left alone at the
# end.
#
# A test that cannot run ends with status 77 and has SKIP_RETURN_CODE 77; one that leaves out a part
# goes on. Either prints a line `SKIPPED: what: why`, which scripts/check lists at the end.
enable_testing()

# Scripts that build programs without racehive-cc do so with the compiler that it drives.
set(RH_TEST_TOOLS CLANG=${RH_CLANG} CLANGXX=${RH_CLANGXX} LLVM_DIS=${RH_DIS})

function(rh_add_test name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} rh_cmocka)
  target_compile_definitions(${name} PRIVATE ${RH_TOOL_DEFINITIONS}
                             RH_DWARFDUMP="${RH_DWARFDUMP}"
                             RH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             RH_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  # With sanitizers a test takes up to four times as long.
  set_tests_properties(${name} PROPERTIES TIMEOUT $<IF:$<BOOL:${RH_SANITIZE}>,2400,600> LABELS unit)
endfunction()

# What is built below the calling folder goes into programs that have no sanitizer's runtime, or no
# room for one.
function(rh_build_without_sanitizers)
  foreach(kind COMPILE_OPTIONS LINK_OPTIONS)
    get_directory_property(options ${kind})
    list(FILTER options EXCLUDE REGEX sanitize)
    set_directory_properties(PROPERTIES ${kind} "${options}")
  endforeach()
endfunction()

# Stands in for a test that this machine has no tool for.
function(rh_add_skipped_test name why)
  add_test(NAME ${name} COMMAND sh -c "echo 'SKIPPED: ${name}: ${why}'; exit 77")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
