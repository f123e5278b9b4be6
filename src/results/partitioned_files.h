// Writes rows into a folder of Parquet, CSV or JSON files by the values of some columns, as name=value/data_0.parquet: a table with
// partitions for Pistachio and others. The folder appears when it is complete; if the process is killed before, a hidden folder is left.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/result_receiver.h"
#include "results/column_text.h"
#include "results/output_file.h"

namespace pistachio {

class PartitionedFiles final : public ResultReceiver {
 public:
  using MakeFormat = std::function<std::unique_ptr<ResultReceiver>(ResultSink& sink)>;
  struct Target {
    std::string folder;
    std::vector<std::string> partition_by;
    std::string ending;        // of file names
    bool may_replace = false;  // the folder may exist and have files, which are deleted
  };

  // Throws UserError, as other members do.
  PartitionedFiles(Target target, MakeFormat make_format);
  // Deletes what was written unless publish() was called.
  ~PartitionedFiles() override;

  void start(const CancelToken& token) override { token_ = token; }
  void begin(const std::vector<ResultColumn>& columns) override;
  // Rows with equal values in the partition columns follow each other, also from chunk to chunk.
  void add(const Chunk& chunk) override;
  void end() override;
  void break_off() override { close_file(false); }
  bool needs_every_column() const override { return true; }

  void publish();

 private:
  // The file being written.
  struct OpenFile {
    std::string key;
    std::unique_ptr<OutputFile> file;
    std::unique_ptr<ResultReceiver> format;
  };
  std::string key_of(size_t row) const;
  void open_file(std::string key);
  void close_file(bool is_complete);

  const Target target_;
  const MakeFormat make_format_;
  std::string hidden_;  // the folder while it is incomplete
  CancelToken token_;
  WorkPoll poll_{&token_};
  std::vector<size_t> partition_places_;
  std::vector<size_t> data_places_;
  std::vector<std::string> partition_names_;  // as in the result
  std::vector<ResultColumn> data_columns_;
  std::vector<ColumnText> values_;  // of the partition columns in the current chunk
  std::optional<OpenFile> open_;
};

}  // namespace pistachio
