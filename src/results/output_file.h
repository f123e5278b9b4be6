// A file that a statement writes. It appears under its name when it is complete, in one step: before that, and if the process is killed,
// there is the old file or none. Where the file system has no unnamed files, a killed process leaves a hidden file behind. Used by one
// thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "results/result_sink.h"

namespace pistachio {

class OutputFile final : public ResultSink {
 public:
  // A device or a pipe is written directly. The new file has the mode of the old one. Throws UserError, as all members do.
  explicit OutputFile(const std::string& path);
  // Unless publish() was called, nothing is left.
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void set_token(CancelToken token) override { token_ = std::move(token); }
  void write(std::string_view bytes) override;
  // On disk and under its name when this returns.
  void publish();

  const std::string& path() const { return path_; }

 private:
  void open_unnamed();
  void open_hidden();
  [[noreturn]] void fail(std::string_view what) const;
  void wait_for_reader() const;

  std::string path_;
  std::string folder_;
  std::string hidden_;  // the path of the incomplete file; empty while it has none
  int descriptor_ = -1;
  bool is_direct_ = false;
  bool is_unnamed_ = false;
  CancelToken token_;
};

}  // namespace pistachio
