// The stream that results are written to. Where its reader may stall (a pipe, a socket), a write that has to wait ends with the token of
// the statement; files, terminals and devices are written through stdio. One thread at a time, not always the same; any thread cancels.
// Memory: none of its own.
#pragma once

#include <cstdio>
#include <string_view>
#include <utility>

#include "base/cancel_token.h"

namespace pistachio {

class ResultOutput {
 public:
  // The stream stays the caller's.
  explicit ResultOutput(std::FILE* target);
  ~ResultOutput();
  ResultOutput(const ResultOutput&) = delete;
  ResultOutput& operator=(const ResultOutput&) = delete;

  // From now on writes wait only until this token is cancelled or its deadline has passed.
  void set_token(CancelToken token) { token_ = std::move(token); }

  // Throws Cancelled if it would have to wait and may not: the bytes are written in part. Throws ReaderGone and UserError as
  // write_result_bytes does.
  void write(std::string_view bytes);
  // Whether the last byte written does not end a line: a write may have been cut short. Tracked only where writes can wait.
  bool is_inside_line() const { return is_inside_line_; }

 private:
  enum class Kind { Stream, Pipe, Socket };

  void write_to_reader(std::string_view bytes);
  void wait_for_reader();

  std::FILE* target_;
  int descriptor_;
  Kind kind_;
  int wake_descriptor_ = -1;  // readable after a cancellation; only where writes can wait
  CancelToken token_;
  bool is_inside_line_ = false;
};

}  // namespace pistachio
