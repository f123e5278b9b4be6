// libFuzzer target: any bytes as a Parquet file, through footer, page walk and column readers. Only the error classes for bad input may
// escape. Needs clang 16 or newer (coroutines):
//   cmake -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DPISTACHIO_SANITIZE=address -DPISTACHIO_FUZZ=ON
//         -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link && ninja -C build/fuzz parquet_fuzzer
//   build/fuzz/parquet_fuzzer CORPUS_FOLDER -rss_limit_mb=2048 -timeout=10
#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "tests/parquet/in_memory_file.h"

namespace {

void read_column(const pistachio::test::InMemoryFile& file, int column, int group, bool use_offset_index) {
  try {
    file.read(column, group, {.strip_rows = 1000, .use_offset_index = use_offset_index});
  } catch (const pistachio::DataError&) {
  } catch (const pistachio::UserError&) {
  } catch (const pistachio::OutOfMemory&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    pistachio::test::InMemoryFile file(std::span(data, size));
    // A footer may list many row groups; a few are enough.
    int groups = static_cast<int>(std::min<size_t>(file.footer().row_groups.size(), 4));
    int columns = static_cast<int>(std::min<size_t>(file.footer().columns.size(), 64));
    for (int group = 0; group < groups; ++group) {
      for (int column = 0; column < columns; ++column) read_column(file, column, group, (group + column) % 2 == 0);
    }
  } catch (const pistachio::DataError&) {
  } catch (const pistachio::UserError&) {
  } catch (const pistachio::OutOfMemory&) {
  }
  return 0;
}
