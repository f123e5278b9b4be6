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
#include "results/result_sink.h"

namespace pistachio {

class PartitionedFiles final : public ResultReceiver {
 public:
  using MakeFormat = std::function<std::unique_ptr<ResultReceiver>(ResultSink& sink)>;
  struct Target {
    std::string folder;                // the folder that it is in exists
    std::vector<size_t> partition_by;  // places of columns of the result, whose values have one form as text
    std::string ending;                // of file names
    bool may_replace = false;          // replaces the folder's files; else it must be empty
  };

  // Throws UserError, as other members do.
  PartitionedFiles(const Target& target, MakeFormat make_format);
  // Deletes what was written unless publish() was called.
  ~PartitionedFiles() override;

  void start(const CancelToken& token) override { token_ = token; }
  void begin(const std::vector<ResultColumn>& columns) override;
  // Rows with equal values in the partition columns follow each other, also from chunk to chunk.
  void add(const Chunk& chunk) override;
  void end() override;
  void break_off() override;
  bool needs_every_column() const override { return true; }

  void publish();

 private:
  class OpenFile;
  std::string key_of(size_t row) const;
  void open_file(std::string key);
  void close_file();
  void make_folders(const std::string& key) const;

  const std::vector<size_t> partition_by_;
  const std::string ending_;
  const bool may_replace_;
  const MakeFormat make_format_;
  std::string folder_;
  std::string hidden_;  // the folder while it is incomplete
  CancelToken token_;
  WorkPoll poll_{&token_};
  std::vector<size_t> data_places_;
  std::vector<std::string> partition_names_;  // as in the folders
  std::vector<ResultColumn> data_columns_;
  std::vector<ColumnText> values_;  // of the partition columns in the current chunk
  std::unique_ptr<OpenFile> open_;
};

}  // namespace pistachio
