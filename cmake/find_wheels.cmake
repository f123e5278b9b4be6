# Finds the C++ sides of the Python wheels: libtorch, Arrow and Parquet, UCX. They give headers and shared libraries; run paths
# point at them, so no LD_LIBRARY_PATH is needed.
if(NOT EXISTS ${PISTACHIO_PYTHON})
  message(FATAL_ERROR "${PISTACHIO_PYTHON} does not exist: run scripts/setup, or pass -DPISTACHIO_PYTHON=<python with torch and pyarrow>")
endif()
execute_process(
  COMMAND ${PISTACHIO_PYTHON} -c "import importlib.util as u\nfor n in ('torch','pyarrow','libucx'):\n  s=u.find_spec(n)\n  print(list(s.submodule_search_locations)[0] if s else 'missing')"
  OUTPUT_VARIABLE WHEEL_FOLDERS OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" WHEEL_FOLDERS "${WHEEL_FOLDERS}")
list(GET WHEEL_FOLDERS 0 TORCH_FOLDER)
list(GET WHEEL_FOLDERS 1 PYARROW_FOLDER)
list(GET WHEEL_FOLDERS 2 UCX_FOLDER)
foreach(wheel TORCH PYARROW)
  if(${wheel}_FOLDER STREQUAL "missing")
    message(FATAL_ERROR "${PISTACHIO_PYTHON} has no ${wheel} package: run scripts/setup")
  endif()
endforeach()
set(PISTACHIO_UCX_ROOT "" CACHE PATH "A system UCX (folder with include/ and lib/); empty: the PyPI wheel")
if(PISTACHIO_UCX_ROOT)
  set(UCX_FOLDER ${PISTACHIO_UCX_ROOT})
endif()

add_library(torch_runtime INTERFACE)
target_include_directories(torch_runtime SYSTEM INTERFACE ${TORCH_FOLDER}/include ${TORCH_FOLDER}/include/torch/csrc/api/include)
# Before ATen's headers of the same names.
target_include_directories(torch_runtime BEFORE INTERFACE ${CMAKE_SOURCE_DIR}/cmake/light_headers)
# ATen's headers then include the functions that they use one by one instead of all (kernels/ops/tensor_functions.h).
target_compile_definitions(torch_runtime INTERFACE AT_PER_OPERATOR_HEADERS)
target_link_directories(torch_runtime INTERFACE ${TORCH_FOLDER}/lib)
target_link_libraries(torch_runtime INTERFACE torch torch_cpu c10)
if(PISTACHIO_CUDA)
  target_link_libraries(torch_runtime INTERFACE torch_cuda c10_cuda)
endif()

add_library(arrow_parquet INTERFACE)
target_include_directories(arrow_parquet SYSTEM INTERFACE ${PYARROW_FOLDER}/include)
target_link_directories(arrow_parquet INTERFACE ${PYARROW_FOLDER})
target_link_libraries(arrow_parquet INTERFACE -l:libarrow.so.2500 -l:libparquet.so.2500)

add_library(ucx INTERFACE)
target_include_directories(ucx SYSTEM INTERFACE ${UCX_FOLDER}/include)
# Not linked: network/ucx_library.cpp loads it when ranks are used, from the run path below.
target_link_libraries(ucx INTERFACE ${CMAKE_DL_LIBS})

set(CMAKE_BUILD_RPATH ${TORCH_FOLDER}/lib ${PYARROW_FOLDER} ${UCX_FOLDER}/lib)
set(CMAKE_INSTALL_RPATH ${CMAKE_BUILD_RPATH})
add_link_options(-Wl,--disable-new-dtags)  # run paths also hold for the libraries' own dependencies
