// The stream that results are written to. Where the reader may stall (a pipe, a socket), cancelling the statement's token ends a blocked
// write; files, terminals and devices are written through stdio. One thread at a time, not always the same; any thread may cancel. Memory:
// none of its own.
#pragma once

#include <cstdio>
#include <string_view>
#include <utility>

#include "base/cancel_token.h"
#include "results/result_sink.h"

namespace pistachio {

class ResultOutput final : public ResultSink {
 public:
  // Does not take ownership of the stream.
  explicit ResultOutput(std::FILE* target);
  ~ResultOutput() override;
  ResultOutput(const ResultOutput&) = delete;
  ResultOutput& operator=(const ResultOutput&) = delete;

  // Later writes block only until this token is cancelled or its deadline has passed.
  void set_token(CancelToken token) override { token_ = std::move(token); }

  // Throws Cancelled if it would have to block and may not, or has written a megabyte under a cancelled token: the bytes are then partly
  // written. Throws OutputClosed and UserError as write_result_bytes does.
  void write(std::string_view bytes) override;
  // Whether the last byte written was not a newline: a write may have been cut short.
  bool is_inside_line() const { return is_inside_line_; }

 private:
  enum class Kind { Stream, Pipe, Socket };

  void write_to_stream(std::string_view bytes);
  void write_to_reader(std::string_view bytes);
  void wait_for_reader();

  std::FILE* target_;
  int descriptor_;
  Kind kind_;
  int wake_descriptor_ = -1;  // readable after a cancellation; only where writes can block
  CancelToken token_;
  bool is_inside_line_ = false;
};

}  // namespace pistachio
