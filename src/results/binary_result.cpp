// Parquet files and Arrow IPC streams. A Parquet file ends with its footer, so there can be only one result in it.
#include <functional>
#include <utility>

#include "base/error.h"
#include "results/distinct_names.h"
#include "results/result_formats.h"

namespace pistachio {

namespace {

class BinaryResult final : public ResultReceiver {
 public:
  using MakeWriter = std::function<std::unique_ptr<ChunkWriter>(const std::vector<NamedType>& columns, ByteSink sink)>;

  BinaryResult(ResultSink& sink, MakeWriter make_writer, bool one_result)
      : sink_(sink), make_writer_(std::move(make_writer)), one_result_(one_result) {}

  void start(const CancelToken& token) override { sink_.set_token(token); }
  void begin(const std::vector<ResultColumn>& columns) override {
    if (one_result_ && has_result_)
      throw UserError(
          "a Parquet file holds one result, and this run has written one already: give each query a run of its own, or use --format arrow");
    std::vector<NamedType> types;
    std::vector<std::string> names = distinct_names(columns);
    for (size_t i = 0; i < columns.size(); ++i) types.push_back({std::move(names[i]), columns[i].type});
    has_result_ = true;
    writer_ = make_writer_(types, [&sink = sink_](std::string_view bytes) { sink.write(bytes); });
  }
  void add(const Chunk& chunk) override { writer_->write(chunk); }
  void end() override {
    writer_->finish();
    writer_.reset();
  }
  void break_off() override { writer_.reset(); }
  // A reader of the file would not see the note that a column is missing.
  bool needs_every_column() const override { return true; }

 private:
  ResultSink& sink_;
  const MakeWriter make_writer_;
  const bool one_result_;
  bool has_result_ = false;
  std::unique_ptr<ChunkWriter> writer_;
};

}  // namespace

std::unique_ptr<ResultReceiver> make_parquet_result(ResultSink& sink, const ParquetStyle& style) {
  auto make = [style](const std::vector<NamedType>& columns, ByteSink bytes) {
    return make_parquet_writer(columns, std::move(bytes), style);
  };
  return std::make_unique<BinaryResult>(sink, make, true);
}

std::unique_ptr<ResultReceiver> make_arrow_result(ResultSink& sink) {
  return std::make_unique<BinaryResult>(sink, make_arrow_stream_writer, false);
}

}  // namespace pistachio
