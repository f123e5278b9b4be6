// Writes the rows of a result in a format that other programs read, chunk by chunk. One result after the other, but only one in Parquet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/result_receiver.h"
#include "results/result_sink.h"
#include "storage/chunk_writer.h"

namespace pistachio {

struct CsvStyle {
  char delimiter = ',';
  char quote = '"';
  bool has_header = true;
  std::string null_text;  // empty text is in quotes where this is empty
  // Plans are written verbatim, without a header and quotes.
  bool reports_as_lines = false;
};

// Receivers write to the sink, which outlives them, and pass on its exceptions.
std::unique_ptr<ResultReceiver> make_csv_result(ResultSink& sink, const CsvStyle& style);
// An array of objects, or an object in each line.
std::unique_ptr<ResultReceiver> make_json_result(ResultSink& sink, bool lines);
std::unique_ptr<ResultReceiver> make_parquet_result(ResultSink& sink, const ParquetStyle& style);
// A stream: several results follow each other.
std::unique_ptr<ResultReceiver> make_arrow_result(ResultSink& sink);

}  // namespace pistachio
