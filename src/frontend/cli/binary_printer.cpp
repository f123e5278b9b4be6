#include "frontend/cli/binary_printer.h"

#include "base/error.h"
#include "frontend/cli/output_names.h"
#include "frontend/cli/result_output.h"
#include "storage/chunk_writer.h"

namespace pistachio {

namespace {

class BinaryPrinter final : public ResultReceiver {
 public:
  using MakeWriter = std::unique_ptr<ChunkWriter> (*)(const std::vector<NamedType>& columns, ByteSink sink);

  BinaryPrinter(ResultOutput& output, MakeWriter make_writer, bool one_result)
      : output_(output), make_writer_(make_writer), one_result_(one_result) {}

  void start(const CancelToken& token) override { output_.set_token(token); }
  void begin(const std::vector<ResultColumn>& columns) override {
    if (one_result_ && has_result_)
      throw UserError(
          "a Parquet file holds one result, and this run has written one already: give each query a run of its own, or use --format arrow");
    std::vector<NamedType> types;
    std::vector<std::string> names = distinct_names(columns);
    for (size_t i = 0; i < columns.size(); ++i) types.push_back({std::move(names[i]), columns[i].type});
    has_result_ = true;
    writer_ = make_writer_(types, [&output = output_](std::string_view bytes) { output.write(bytes); });
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
  ResultOutput& output_;
  MakeWriter make_writer_;
  bool one_result_;
  bool has_result_ = false;
  std::unique_ptr<ChunkWriter> writer_;
};

}  // namespace

std::unique_ptr<ResultReceiver> make_parquet_printer(ResultOutput& output) {
  return std::make_unique<BinaryPrinter>(output, make_parquet_writer, true);
}

std::unique_ptr<ResultReceiver> make_arrow_printer(ResultOutput& output) {
  return std::make_unique<BinaryPrinter>(output, make_arrow_stream_writer, false);
}

}  // namespace pistachio
