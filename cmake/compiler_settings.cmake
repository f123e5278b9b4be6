# Compiler flags that every target shares: warnings, sanitizers by option, ccache and mold when they are there.
add_library(pistachio_flags INTERFACE)
target_compile_options(pistachio_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers>
  # In continuous integration only: another compiler than the project's own may warn about other things, which is no user's problem.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${PISTACHIO_WARNINGS_ARE_ERRORS}>>:-Werror>
  # GCC 12 reports false positives from inlined standard-library code at -O2.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict -Wno-psabi
  # Types of one source file in coroutine frames are reported when files are compiled together.
  -Wno-subobject-linkage>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fcoroutines>)
  # The compiler's garbage collection visits all of the precompiled header, up to 300 MB: start it at 2 GB (twice this figure, in KB).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
  # From GCC 13 on, -O2 turns these two on and -O1 does not, and a precompiled header serves only files with the same target flags. At -O2
  # and -O3 naming them changes nothing; at -O1 they have no effect without -funroll-loops and AVX.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-munroll-only-small-loops> $<$<COMPILE_LANGUAGE:CXX>:-mvzeroupper>)
  endif()
endif()

# Left out: checks that cost a fifth of the compile time and find nothing that the address sanitizer does not stop at (null, object-size), and
# vptr, which needs the type information of libraries that are built without it.
if(PISTACHIO_SANITIZE STREQUAL "address")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=address,undefined> $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr,null,object-size>)
  add_link_options(-fsanitize=address,undefined)
elseif(PISTACHIO_SANITIZE STREQUAL "thread")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=thread> $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=thread)
elseif(PISTACHIO_SANITIZE)
  message(FATAL_ERROR "PISTACHIO_SANITIZE is '${PISTACHIO_SANITIZE}'; it must be '', 'address' or 'thread'")
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/cached_compile ${CMAKE_SOURCE_DIR} ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)  # lets ccache see through precompiled headers
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# Set here and not by CMAKE_POSITION_INDEPENDENT_CODE, which would give programs -fPIE and libraries -fPIC, and a precompiled
# header serves only files with the same flags.
add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fPIC>)

if(PISTACHIO_CUDA)
  target_compile_definitions(pistachio_flags INTERFACE PISTACHIO_CUDA)
endif()

# GCC 13 takes fmt's argument views for dangling references, GCC 14 warns of a comparison in fmt/ranges.h.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(pistachio_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference -Wno-tautological-compare>)
endif()

# Clang checks products of 128-bit integers with a function of its own runtime, which libgcc lacks.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT APPLE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --rtlib=compiler-rt --print-libgcc-file-name OUTPUT_VARIABLE CLANG_BUILTINS OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${CLANG_BUILTINS}")
    target_link_libraries(pistachio_flags INTERFACE ${CLANG_BUILTINS})
  endif()
endif()
