// Cancellation of loops over text. Work is counted in bytes, so that the clock is read once per megabyte instead of once per value. Bodies
// take the poll as a template parameter: batches of short values run with NoPoll, whose calls compile to nothing, and only strips of rows
// with long values run with WorkPoll. Used within one function call, by one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/stop_if_cancelled.h"

namespace pistachio {

// Bytes of work between two polls: about 10 ms of the slowest function.
constexpr int64_t kBytesPerPoll = 1 << 20;

// Never stops.
struct NoPoll {
  static constexpr bool kIsActive = false;
  void operator()(int64_t) const {}
};

// Throws Cancelled when the token is cancelled or its deadline has passed.
class WorkPoll {
 public:
  static constexpr bool kIsActive = true;

  // Null: never stops.
  explicit WorkPoll(const CancelToken* token) : token_(token) {}
  // `bytes` more bytes are about to be processed.
  void operator()(int64_t bytes) {
    left_ -= bytes;
    if (left_ < 0) [[unlikely]]
      poll();
  }

 private:
  void poll() {
    left_ = kBytesPerPoll;
    if (token_ != nullptr) stop_if_cancelled(*token_);
  }

  const CancelToken* token_;
  int64_t left_ = kBytesPerPoll;
};

// Calls body(block) for consecutive blocks of a long text, polling before each; all but the last have kBytesPerPoll bytes. With NoPoll one
// call for the whole text.
template <typename Poll, typename Body>
void for_each_block(std::string_view text, Poll& poll, const Body& body) {
  if constexpr (!Poll::kIsActive) {
    body(text);
  } else {
    do {
      std::string_view block = text.substr(0, kBytesPerPoll);
      poll(static_cast<int64_t>(block.size()));
      body(block);
      text.remove_prefix(block.size());
    } while (!text.empty());
  }
}

// Calls body(row, poll) for rows in [0, rows); bytes_of(row) is the work of a row. Rows are taken in strips: only in a strip with long
// values does a row get a poll that stops.
template <typename BytesOf, typename Body>
void for_each_polled_row(int64_t rows, const CancelToken* token, const BytesOf& bytes_of, const Body& body) {
  constexpr int64_t strip_rows = 1024;
  constexpr int64_t short_strip_bytes = 4 * kBytesPerPoll;
  WorkPoll poll(token);
  NoPoll no_poll;
  for (int64_t begin = 0; begin < rows; begin += strip_rows) {
    const int64_t end = std::min(begin + strip_rows, rows);
    int64_t bytes = 0;
    for (int64_t row = begin; row < end; ++row) bytes += bytes_of(row);
    if (bytes <= short_strip_bytes) {
      poll(bytes);
      for (int64_t row = begin; row < end; ++row) body(row, no_poll);
    } else {
      for (int64_t row = begin; row < end; ++row) {
        poll(bytes_of(row));
        body(row, poll);
      }
    }
  }
}

}  // namespace pistachio
