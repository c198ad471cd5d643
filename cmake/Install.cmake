# SPDX-License-Identifier: Apache-2.0
# What `make install PREFIX=` puts where; the build folder has the same shape.
install(TARGETS racehive racehive-cc RUNTIME DESTINATION bin)
install(CODE "file(CREATE_LINK racehive-cc
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/racehive-c++\" SYMBOLIC)")
foreach(tool ar ranlib nm)
  string(REPLACE objcopy ${tool} original ${RH_OBJCOPY})
  foreach(name racehive-${tool} racehive-llvm-${tool})
    install(CODE "file(CREATE_LINK ${original}
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/${name}\" SYMBOLIC)")
  endforeach()
endforeach()
install(TARGETS racehive-ld racehive-instrument RUNTIME DESTINATION lib/racehive)
install(FILES ${CMAKE_BINARY_DIR}/lib/racehive/rt.o ${CMAKE_BINARY_DIR}/lib/racehive/rt_static.o
              ${CMAKE_BINARY_DIR}/lib/racehive/glue.o
              ${CMAKE_BINARY_DIR}/lib/racehive/wrapped-symbols
        DESTINATION lib/racehive)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/racehive DESTINATION include
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/man/ DESTINATION share/man/man1
        FILES_MATCHING PATTERN "*.1")
install(FILES ${PROJECT_SOURCE_DIR}/scripts/completion/racehive.bash
        DESTINATION share/bash-completion/completions RENAME racehive)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION share/doc/racehive)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/racehive PATTERN "man" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION share/doc/racehive)
