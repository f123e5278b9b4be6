// Scatters values to many append positions in an output larger than L2: buffers a cache line per partition and writes full lines with
// non-temporal stores. Writing single values would cost a cache and a TLB miss almost every time; ordinary stores would read each line
// first. Raw memory, one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace pistachio::kernels::cpu {

// T: 1, 2, 4, 8 or 16 bytes, and aligned to as many.
template <typename T>
class LineScatterOf {
 public:
  // Outputs up to this many values (1 MiB) are faster to write value by value.
  static constexpr int64_t cached_words = (int64_t{1} << 20) / static_cast<int64_t>(sizeof(T));

  // Partition p is written from out[begins[p]].
  LineScatterOf(T* out, std::vector<int64_t> begins) : begins_(std::move(begins)), lines_(begins_.size()) {
    // Positions count from the start of a cache line.
    const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) / sizeof(T) % line_words);
    out_ = out - before;
    for (int64_t& begin : begins_) begin += before;
    cursors_ = begins_;
  }

  void put(size_t part, T value) {
    const int64_t at = cursors_[part]++, slot = at % line_words;
    lines_[part].words[slot] = value;
    if (slot == line_words - 1) write_line(part, at - slot);
  }

  // Flushes the partial lines. No put() after this.
  void finish() {
    for (size_t part = 0; part < lines_.size(); ++part) {
      const int64_t end = cursors_[part], start = end - end % line_words;
      for (int64_t at = std::max(start, begins_[part]); at < end; ++at) out_[at] = lines_[part].words[at - start];
    }
#ifdef __SSE2__
    _mm_sfence();  // orders the streaming stores before the output is published to other threads
#endif
  }

 private:
  static constexpr int64_t line_words = 64 / sizeof(T);
  struct alignas(64) Line {
    T words[line_words];
  };

  // A partition may start in the middle of its first line: the words before it belong to another partition.
  void write_line(size_t part, int64_t start) {
    const Line& line = lines_[part];
    const int64_t missing = begins_[part] - start;
    if (missing > 0) [[unlikely]] {
      std::copy(line.words + missing, line.words + line_words, out_ + start + missing);
      return;
    }
#ifdef __SSE2__
    const __m128i* from = reinterpret_cast<const __m128i*>(line.words);
    __m128i* to = reinterpret_cast<__m128i*>(out_ + start);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(to + i, _mm_load_si128(from + i));
#else
    std::memcpy(out_ + start, line.words, sizeof(Line));
#endif
  }

  T* out_;
  std::vector<int64_t> begins_, cursors_;
  std::vector<Line> lines_;
};

using LineScatter = LineScatterOf<uint64_t>;

}  // namespace pistachio::kernels::cpu
