// Generates Parquet files for tests, in memory, with Arrow's column writers: any stored type x encoding x codec x NULL pattern x page
// version x sizes. Values come from pools that start with the extremes of the type, so that they occur in every file. The same FileSpec
// always yields the same bytes. Throws std::runtime_error if Arrow cannot write the request.
// Single-threaded; memory: Arrow's default pool.
#pragma once

#include <arrow/buffer.h>
#include <parquet/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/logical_type.h"
#include "tests/support/temporary_folder.h"

namespace pistachio::test {

// How a logical type is stored in a Parquet file, and the engine's type that it must be read as.
struct StoredType {
  std::string name;
  parquet::Type::type physical;
  std::shared_ptr<const parquet::LogicalType> annotation;  // none for a bare physical type
  int width = -1;                                          // of FIXED_LEN_BYTE_ARRAY
  LogicalType expected;
};

// Every stored type that the engine reads; the names are unique.
const std::vector<StoredType>& stored_types();
const StoredType& stored_type(const std::string& name);

// Encodings of a physical type. RLE_DICTIONARY stands for a dictionary, with fallback if the file's limit is small.
std::vector<parquet::Encoding::type> encodings_of(parquet::Type::type physical);

enum class NullPattern { Required, None, Some, Many, All, Runs };
const std::vector<NullPattern>& null_patterns();

struct ColumnSpec {
  std::string name;
  StoredType stored;
  parquet::Encoding::type encoding = parquet::Encoding::PLAIN;
  NullPattern nulls = NullPattern::Required;
  int distinct = 1000;  // size of the value pool
};

struct FileSpec {
  std::vector<ColumnSpec> columns;
  int64_t rows = 1000;
  int64_t row_group_rows = 1 << 20;
  int64_t page_bytes = 1 << 20;
  int64_t dictionary_bytes = 1 << 20;  // a dictionary that grows past this falls back to PLAIN
  parquet::Compression::type codec = parquet::Compression::UNCOMPRESSED;
  bool pages_v2 = false;
  bool format_v1 = false;  // writes PLAIN_DICTIONARY instead of RLE_DICTIONARY
  bool page_index = false;
  bool checksums = false;
  bool bloom_filters = false;
  uint64_t seed = 1;

  std::string to_string() const;
};

// One column for each stored type x encoding x NULL pattern, named `type|encoding|nulls`. `keep_every` > 1 thins them out, starting at
// `first`; the files with first = 0 .. keep_every - 1 together have every column.
std::vector<ColumnSpec> all_columns(int keep_every = 1, int first = 0);

// Codecs that this Arrow can write, including LZ4 in Hadoop's framing.
std::vector<parquet::Compression::type> writable_codecs();

std::shared_ptr<arrow::Buffer> make_parquet_file(const FileSpec& spec);

// Flat columns next to nested ones: id BIGINT, point STRUCT(x INTEGER, label VARCHAR, inner STRUCT(z DOUBLE)), tags LIST(BIGINT),
// attributes MAP(VARCHAR, INTEGER), name VARCHAR. Structs, their fields, lists and maps have NULLs.
std::shared_ptr<arrow::Buffer> make_nested_parquet_file(int64_t rows, int64_t row_group_rows);

// Writes bytes to a file, replacing it.
void write_file(const std::string& path, const arrow::Buffer& bytes);

}  // namespace pistachio::test
