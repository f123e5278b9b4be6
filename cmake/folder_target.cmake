# pistachio_folder(NAME ... USES a b c LIBRARIES x y [TENSORS] [OPTIMIZE_HARD] [WHOLE])
# Makes the library pistachio_NAME from every .cpp of the calling folder, NAME_test from its *_test.cpp files and
# NAME_bench from its *_bench.cpp files. A new file needs no CMake edit; a file in no folder cannot exist.
#   USES             folders it depends on (checked against src/layers.txt by tools/check_layers.py)
#   LIBRARIES        outside libraries
#   TENSORS          uses tensors: reuse the precompiled header of src/data, at::Tensor with tensor_functions.h
#   OPTIMIZE_HARD    kernels: -O3 in release builds (with AddressSanitizer, GCC crashes if a precompiled header was made at another level)
#   WHOLE            keep every object file when linking (kernels register their bodies while the program loads)
set_property(GLOBAL PROPERTY PISTACHIO_TEST_TARGETS "")

# Folders that compute with values or with bytes of files and messages: there the undefined-behaviour sanitizer looks for wrong answers. The
# others plan queries and coordinate ranks; leaving it out saves a third of their compile time.
set(PISTACHIO_VALUE_FOLDERS base data kernels_ops kernels_composite kernels_cpu kernels_cuda columns expr memory spill storage readers network
  exec_core exec_adaptive exec_exchange exec_operators exec_window exec_pipeline results frontend_cli)

# Folders whose own code runs per value or row. The others are compiled with -O1 in release builds, which saves a quarter of their time. That
# includes exec, which works by chunk: 22 TPC-H queries take as long with either level.
set(PISTACHIO_BUSY_FOLDERS base data kernels_cpu kernels_cuda columns expr memory storage readers results)

# Folders of loops over rows and bytes.
set(PISTACHIO_LOOP_FOLDERS kernels_composite kernels_cpu)

# A sanitizer build of some folders only: the libraries of the others are those of an existing build without sanitizers, which saves compiling
# them. Both kinds of code work together: the sanitizer owns all memory, and checks what the code compiled with it does.
set(PISTACHIO_PLAIN_FOLDERS "" CACHE STRING "Folders whose libraries are taken from PISTACHIO_PLAIN_BUILD (any but data, which makes the precompiled header)")
set(PISTACHIO_PLAIN_BUILD "${CMAKE_SOURCE_DIR}/build/release" CACHE PATH "A build of the same source without sanitizers")

# Flags below are appended to those of the whole build, so that the precompiled header still fits.
function(pistachio_without_ubsan target)
  if(PISTACHIO_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize=undefined>)
  endif()
endfunction()

# Leaves arithmetic, shifts, array bounds and conversions, whose errors are wrong answers. The checks of every pointer that is used cost a
# quarter of the compile time; most of what they would find, the address sanitizer finds too.
function(pistachio_without_pointer_ubsan target)
  if(PISTACHIO_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize=alignment,nonnull-attribute,returns-nonnull-attribute,pointer-overflow>)
  endif()
endfunction()

# For code that takes microseconds per query, or runs once: a quarter to a third of the compile time is saved. Not with GCC 14 and later on
# 64-bit ARM, which does not accept a precompiled header of another level (x86-64: see compiler_settings.cmake).
function(pistachio_optimize_little target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" OR
     NOT (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 14))
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  endif()
endfunction()

# Calls a function for each checked memory access instead of inlining the check: the same accesses are checked, a quarter to a third of the
# compile time is saved, and the code runs slower. For code that does not run per row or per byte.
function(pistachio_call_asan target)
  if(PISTACHIO_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--param=asan-instrumentation-with-call-threshold=0>)
  endif()
endfunction()

# One precompiled header for all folders that use tensors, made with src/data.
function(pistachio_reuse_precompiled target)
  if(NOT target STREQUAL pistachio_data_objects)
    target_precompile_headers(${target} REUSE_FROM pistachio_data_objects)
  endif()
endfunction()

# The folder's library as PISTACHIO_PLAIN_BUILD made it.
function(pistachio_plain_library target libraries)
  file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  set(archive ${PISTACHIO_PLAIN_BUILD}/${folder}/lib${target}.a)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "${archive} is missing. PISTACHIO_PLAIN_FOLDERS needs the libraries of a build without sanitizers: build the preset 'release' first, or name another build folder in PISTACHIO_PLAIN_BUILD.")
  endif()
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} IMPORTED_NO_SYSTEM ON)
  target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} INTERFACE ${libraries})
endfunction()

function(pistachio_folder)
  cmake_parse_arguments(FOLDER "TENSORS;OPTIMIZE_HARD;WHOLE" "NAME" "USES;LIBRARIES" ${ARGN})
  set(target pistachio_${FOLDER_NAME})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB cuda_sources CONFIGURE_DEPENDS *.cu)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cpp)
  file(GLOB benchmarks CONFIGURE_DEPENDS *_bench.cpp)
  file(GLOB programs CONFIGURE_DEPENDS *_main.cpp *_fuzzer.cpp)
  list(REMOVE_ITEM sources ${tests} ${benchmarks} ${programs} "")
  if(PISTACHIO_CUDA)
    list(APPEND sources ${cuda_sources})
    # They include no large headers, and nvcc compiles each for every architecture: apart they use all cores.
    set_source_files_properties(${cuda_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()

  set(uses "")
  foreach(used ${FOLDER_USES})
    list(APPEND uses pistachio_${used})
  endforeach()

  if(sources AND FOLDER_NAME IN_LIST PISTACHIO_PLAIN_FOLDERS)
    pistachio_plain_library(${target}_objects "pistachio_flags;Threads::Threads;${uses};${FOLDER_LIBRARIES}")
  elseif(sources)
    add_library(${target}_objects STATIC ${sources})
    target_include_directories(${target}_objects PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target}_objects PUBLIC pistachio_flags Threads::Threads ${uses} ${FOLDER_LIBRARIES})
    if(FOLDER_TENSORS)
      pistachio_reuse_precompiled(${target}_objects)
    endif()
    if(FOLDER_OPTIMIZE_HARD)
      target_compile_options(${target}_objects PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O3>)
    endif()
    if(NOT FOLDER_NAME IN_LIST PISTACHIO_BUSY_FOLDERS)
      pistachio_optimize_little(${target}_objects)
    endif()
    if(NOT FOLDER_NAME IN_LIST PISTACHIO_LOOP_FOLDERS)
      pistachio_call_asan(${target}_objects)
    endif()
    if(PISTACHIO_FULL_UBSAN)
    elseif(FOLDER_NAME IN_LIST PISTACHIO_VALUE_FOLDERS)
      pistachio_without_pointer_ubsan(${target}_objects)
    else()
      pistachio_without_ubsan(${target}_objects)
    endif()
    pistachio_compile_together(${target}_objects)
  endif()

  if(sources)
    add_library(${target} INTERFACE)
    if(FOLDER_WHOLE)
      target_link_libraries(${target} INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}_objects>")
    else()
      target_link_libraries(${target} INTERFACE ${target}_objects)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target} INTERFACE pistachio_flags Threads::Threads ${uses} ${FOLDER_LIBRARIES})
  endif()

  if(PISTACHIO_TESTS AND tests)
    set(with_tensors "")
    if(FOLDER_TENSORS)
      set(with_tensors TENSORS)
    endif()
    pistachio_test(${FOLDER_NAME}_test SOURCES ${tests} LIBRARIES ${target} ${with_tensors})
  endif()
  if(PISTACHIO_TESTS AND benchmarks)
    add_executable(${FOLDER_NAME}_bench EXCLUDE_FROM_ALL ${benchmarks})
    target_link_libraries(${FOLDER_NAME}_bench PRIVATE ${target} google_benchmark)
    set_target_properties(${FOLDER_NAME}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  endif()
endfunction()

# Compiles the sources of a target in batches: most of a file's cost is what its headers instantiate. Files that are compiled once per
# instruction set (*_simd.cpp) stay apart, as does everything with PISTACHIO_TOGETHER=OFF, which makes rebuilds after a small edit shorter.
function(pistachio_compile_together target)
  if(PISTACHIO_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PISTACHIO_TOGETHER_FILES})
  endif()
endfunction()

# Compiles four files of inner loops at a time (cmake/simd_batch.cpp.in). Each alone costs 3 to 4 s for Highway's headers.
function(pistachio_simd_together target)
  get_target_property(is_plain ${target} IMPORTED)
  if(is_plain)
    return()
  endif()
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  set(number 0)
  while(ARGN)
    list(SUBLIST ARGN 0 4 batch)
    list(REMOVE_ITEM ARGN ${batch})
    set(SIMD_BATCH simd_batch_${number}.cpp)
    set(SIMD_INCLUDES "")
    foreach(source ${batch})
      file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${source})
      string(APPEND SIMD_INCLUDES "#include \"${name}\"\n")
    endforeach()
    configure_file(${CMAKE_SOURCE_DIR}/cmake/simd_batch.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${SIMD_BATCH} @ONLY)
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${SIMD_BATCH} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${SIMD_BATCH})
    math(EXPR number "${number} + 1")
  endwhile()
endfunction()

# pistachio_test(NAME SOURCES ... LIBRARIES ... [TENSORS]): a GoogleTest binary under unit_tests/ of the build folder.
function(pistachio_test name)
  cmake_parse_arguments(TEST "TENSORS" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES} ${CMAKE_SOURCE_DIR}/tests/support/test_main.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})  # for tests/support
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} google_test)
  if(TEST_TENSORS)
    pistachio_reuse_precompiled(${name})
  endif()
  pistachio_optimize_little(${name})
  pistachio_without_ubsan(${name})  # undefined behaviour is looked for in the code under test
  pistachio_call_asan(${name})
  pistachio_compile_together(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit_tests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
