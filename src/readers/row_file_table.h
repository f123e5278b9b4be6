// CSV, JSON and Arrow files read as one table: the columns and their types, and for each file how to read it. Other ranks get it with the
// plan, so that all read alike. Immutable; shared by the plans that read it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "readers/json_layout.h"
#include "readers/read_options.h"
#include "readers/text_dialect.h"
#include "storage/storage_context.h"
#include "storage/table_listing.h"

namespace pistachio {

struct RowFileColumn {
  std::string name;
  LogicalType type = TypeKind::Varchar;
  int64_t partition = -1;    // among the partition keys; -1 for a column in the files
  bool is_filename = false;  // the path of the row's file
  std::string unsupported;   // why it cannot be read; else empty
};

struct RowFile {
  std::string path;
  int64_t size = 0;  // when the table was opened: it must not have changed since
  FileCompression compression = FileCompression::None;
  TextDialect dialect;  // CSV; JSON: only the line ends count
  JsonLayout layout = JsonLayout::Lines;
  int64_t first_byte = 0;          // of the records, decompressed
  int64_t first_line = 1;          // of that byte
  int64_t fields = 0;              // CSV, Arrow: of each record
  std::vector<int64_t> sources;    // for each column of the table, its field (CSV, Arrow) or member (JSON); -1: not in this file
  std::vector<std::string> texts;  // for each column that is not in the files, its value as text
  std::vector<uint8_t> are_null;   // for each column that is not in the files
};

struct RowFileTable {
  FileFormat format = FileFormat::Csv;
  std::vector<RowFileColumn> columns;
  std::vector<RowFile> files;
  std::vector<std::string> members;  // JSON: of the records, by the numbers in RowFile::sources
  bool are_objects = true;           // JSON
  bool refuses_unknown = true;       // JSON: members that no column is for are errors
  bool ignore_errors = false;
  double estimated_rows = 0;
  double record_bytes = 100;  // on average, in the sample
};

// Reads a sample of each file. Throws UserError if files differ in their columns or are something else.
Task<RowFileTable> open_row_files(StorageContext& storage, const TableListing& listing, FileFormat format, const ReadOptions& options);

}  // namespace pistachio
