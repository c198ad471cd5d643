# One way to add a unit test: rh_add_test(name source... LIBS library...).
enable_testing()

function(rh_add_test name)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} rh_cmocka)
  target_compile_definitions(${name} PRIVATE ${RH_TOOL_DEFINITIONS}
                             RH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             RH_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS unit)
endfunction()
