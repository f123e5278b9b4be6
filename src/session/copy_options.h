// The options of COPY TO.
#pragma once

#include <memory>
#include <string>

#include "parser/ast.h"
#include "results/result_formats.h"

namespace pistachio {

struct CopyOptions {
  enum class Format { Parquet, Csv, Json, Arrow };
  Format format = Format::Parquet;
  ParquetStyle parquet;
  CsvStyle csv;
  bool is_json_array = false;  // else an object in each line
  bool may_replace = false;    // PARTITION_BY: the folder may have files

  // By the options and the ending of the path. Throws UserError.
  explicit CopyOptions(const ast::Copy& copy);

  // The ending of files in this format.
  std::string ending() const;
  std::unique_ptr<ResultReceiver> make_format(ResultSink& sink) const;
};

}  // namespace pistachio
