// Streams of a GPU on which decoder lanes run concurrently with the operators, which share a stream of higher priority. The allocator
// caches memory per stream, so streams are reused, last returned first: a new one would allocate fresh memory, which takes milliseconds.
// Thread-safe.
#pragma once

#include <c10/core/Stream.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "data/chunk.h"

namespace pistachio {

class LaneStreams {
 public:
  c10::Stream take(at::Device device);
  void give_back(c10::Stream stream);

 private:
  std::mutex mutex_;
  std::vector<c10::Stream> free_;
};

// The stream of one lane; none on the CPU.
class LaneStream {
 public:
  LaneStream(std::shared_ptr<LaneStreams> streams, at::Device device);
  ~LaneStream();
  LaneStream(const LaneStream&) = delete;
  LaneStream& operator=(const LaneStream&) = delete;

  const std::optional<c10::Stream>& stream() const { return stream_; }
  // Waits until everything enqueued so far is done.
  void wait() const;

 private:
  const std::shared_ptr<LaneStreams> streams_;
  std::optional<c10::Stream> stream_;
};

// While it lives, this thread's work goes to the lane's stream. Not across a co_await: the current stream is per thread.
class OnLaneStream {
 public:
  explicit OnLaneStream(const LaneStream& lane);
  ~OnLaneStream();
  OnLaneStream(const OnLaneStream&) = delete;
  OnLaneStream& operator=(const OnLaneStream&) = delete;

  // Lets the stream that was current before use the chunk: it waits until the chunk is complete; the host does not.
  void hand_over(const Chunk& chunk) const;

 private:
  const std::optional<c10::Stream>& own_;
  std::optional<c10::Stream> outer_;
};

}  // namespace pistachio
