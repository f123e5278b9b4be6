// The loops of utf8_text.h for values of any length: with WorkPoll a long value is processed block by block, so that cancellation is
// noticed; with NoPoll they are the loops of utf8_text.h. Results are the same.
#pragma once

#include "expr/utf8_text.h"
#include "expr/work_poll.h"

namespace pistachio {

namespace polled_text {

// Characters that start in a block of a text; `is_first`: the block is the text's begin, where any byte starts one.
inline int64_t count_starts(std::string_view block, bool is_first) {
  // count_characters() counts the first byte of its input even if it continues a character.
  bool counts_continuation = !is_first && !block.empty() && continues_character(block[0]);
  return count_characters(block) - counts_continuation;
}

inline std::string_view block_of(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace polled_text

template <typename Poll>
int64_t count_characters(std::string_view text, Poll& poll) {
  int64_t count = 0;
  for_each_block(text, poll,
                 [&](std::string_view block) { count += polled_text::count_starts(block, block.data() == text.data()); });
  return count;
}

// Skips `count` characters, or stops at the end.
template <typename Poll>
const char* skip_characters(const char* at, const char* end, int64_t count, Poll& poll) {
  if constexpr (Poll::kIsActive) {
    const char* begin = at;
    while (end - at > kBytesPerPoll) {
      poll(kBytesPerPoll);
      int64_t starts = polled_text::count_starts(polled_text::block_of(at, at + kBytesPerPoll), at == begin);
      if (count < starts) break;
      count -= starts;
      at += kBytesPerPoll;
    }
    // Bytes of a character that started in the block before.
    if (at != begin) {
      while (at < end && continues_character(*at)) {
        poll(1);
        ++at;
      }
    }
  }
  return skip_characters(at, end, count);
}

// The start of the last `count` characters, or of the text if there are fewer.
template <typename Poll>
const char* skip_back(const char* end, const char* begin, int64_t count, Poll& poll) {
  if constexpr (Poll::kIsActive) {
    while (end - begin > kBytesPerPoll) {
      poll(kBytesPerPoll);
      int64_t starts = polled_text::count_starts(polled_text::block_of(end - kBytesPerPoll, end), false);
      if (count <= starts) break;
      count -= starts;
      end -= kBytesPerPoll;
    }
  }
  for (; count > 0 && end > begin; --count) end = previous_character(end, begin);
  return end;
}

// Calls body(block) for consecutive blocks that hold whole code points.
template <typename Poll, typename Body>
void for_each_character_block(std::string_view text, Poll& poll, const Body& body) {
  if constexpr (Poll::kIsActive) {
    while (static_cast<int64_t>(text.size()) > kBytesPerPoll) {
      size_t cut = kBytesPerPoll;
      // A code point has at most three bytes after its first; where more follow each other, they are invalid and stand alone.
      for (int step = 0; step < 3 && continues_character(text[cut]); ++step) --cut;
      if (continues_character(text[cut])) cut = kBytesPerPoll;
      poll(static_cast<int64_t>(cut));
      body(text.substr(0, cut));
      text.remove_prefix(cut);
    }
    poll(static_cast<int64_t>(text.size()));
  }
  body(text);
}

}  // namespace pistachio
