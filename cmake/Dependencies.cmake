# SPDX-License-Identifier: Apache-2.0
# Finds what Racehive stands on; docs/dependencies.md says why each is needed.
find_program(RH_LLVM_CONFIG NAMES llvm-config-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_CLANG NAMES clang-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_CLANGXX NAMES clang++-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_LLD NAMES ld.lld-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_OBJCOPY NAMES llvm-objcopy-${RH_LLVM_VERSION} REQUIRED)
# Only tests call these.
find_program(RH_DIS NAMES llvm-dis-${RH_LLVM_VERSION} REQUIRED)
find_program(RH_DWARFDUMP NAMES llvm-dwarfdump-${RH_LLVM_VERSION} REQUIRED)

execute_process(COMMAND ${RH_LLVM_CONFIG} --includedir OUTPUT_VARIABLE RH_LLVM_INCLUDE
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${RH_LLVM_CONFIG} --libdir OUTPUT_VARIABLE RH_LLVM_LIBDIR
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
add_library(rh_llvm INTERFACE)
target_include_directories(rh_llvm SYSTEM INTERFACE ${RH_LLVM_INCLUDE})
target_link_libraries(rh_llvm INTERFACE ${RH_LLVM_LIBDIR}/libLLVM-${RH_LLVM_VERSION}.so)

# racehive-instrument runs in every link, also those of configure scripts, where loading the shared
# libLLVM takes longer than the work: it has what it needs of LLVM inside. A sanitizer wants the
# shared library.
add_library(rh_llvm_inside INTERFACE)
if(RH_SANITIZE)
  target_link_libraries(rh_llvm_inside INTERFACE rh_llvm)
else()
  execute_process(COMMAND ${RH_LLVM_CONFIG} --link-static --libs x86 bitreader bitwriter irreader
                          passes linker object analysis target mc core
                  OUTPUT_VARIABLE archives OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${RH_LLVM_CONFIG} --bindir OUTPUT_VARIABLE llvm_bin
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(archives UNIX_COMMAND "${archives}")
  target_link_options(rh_llvm_inside INTERFACE -no-pie -L${RH_LLVM_LIBDIR} -B${llvm_bin}
                      -fuse-ld=lld -Wl,--gc-sections)
  target_link_libraries(rh_llvm_inside INTERFACE ${archives} stdc++ z zstd m)
endif()

find_package(PkgConfig REQUIRED)
foreach(dependency sqlite3:rh_sqlite libzstd:rh_zstd libdw:rh_dw libelf:rh_elf cmocka:rh_cmocka)
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
