# Finds what Racehive stands on; docs/dependencies.md says why each is needed.
find_program(RH_LLVM_CONFIG NAMES llvm-config-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_CLANG NAMES clang-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_CLANGXX NAMES clang++-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_LLD NAMES ld.lld-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_OBJCOPY NAMES llvm-objcopy-${RH_LLVM_VERSION} REQUIRED)

execute_process(COMMAND ${RH_LLVM_CONFIG} --includedir OUTPUT_VARIABLE RH_LLVM_INCLUDE
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${RH_LLVM_CONFIG} --libdir OUTPUT_VARIABLE RH_LLVM_LIBDIR
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
add_library(rh_llvm INTERFACE)
target_include_directories(rh_llvm SYSTEM INTERFACE ${RH_LLVM_INCLUDE})
target_link_libraries(rh_llvm INTERFACE ${RH_LLVM_LIBDIR}/libLLVM-${RH_LLVM_VERSION}.so)

find_package(PkgConfig REQUIRED)
foreach(dependency sqlite3:rh_sqlite libzstd:rh_zstd cmocka:rh_cmocka)
  string(REPLACE ":" ";" pair ${dependency})
  list(GET pair 0 module)
  list(GET pair 1 target)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${module})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE PkgConfig::${target})
endforeach()

# Where tools find the compiler and linker they drive, and tests the ones they compare with.
set(RH_TOOL_DEFINITIONS
    RH_CLANG="${RH_CLANG}" RH_CLANGXX="${RH_CLANGXX}" RH_LLD="${RH_LLD}"
    RH_OBJCOPY="${RH_OBJCOPY}")
