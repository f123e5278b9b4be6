// A precompiled LIKE pattern: common shapes (no wildcard, prefix%, %suffix, %infix%) have their own loops, others are matched segment by
// segment between the percent signs: in linear time unless a segment has single-character wildcards inside. Immutable after construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/work_poll.h"

namespace pistachio {

class LikePattern {
 public:
  // `escape` is one character, or empty for none. Throws UserError for a pattern that ends in it.
  // `ignores_case`: the text to match must be in lower case.
  // `token` stops the construction; null: nothing does.
  LikePattern(std::string_view pattern, std::string_view escape, bool ignores_case = false, const CancelToken* token = nullptr);

  // `text.data()` is not null. `poll` is a NoPoll or a WorkPoll.
  template <typename Poll>
  bool matches(std::string_view text, Poll& poll) const;

  // Bytes that may be compared per byte of text: more than one where a segment with single-character wildcards is tried place by place.
  int64_t work_per_byte() const { return work_per_byte_; }

  enum class Shape { Whole, Prefix, Suffix, Infix, General };
  Shape shape() const { return shape_; }
  // For all shapes but General.
  std::string_view literal() const { return literal_; }

  // Skips single characters, then expects these bytes.
  struct Piece {
    int64_t skipped = 0;
    std::string literal;
  };
  using Segment = std::vector<Piece>;
  // The parts between percent signs; the first and the last are anchored.
  const std::vector<Segment>& segments() const { return segments_; }

 private:
  void choose_shape();
  template <typename Poll>
  bool matches_general(std::string_view text, Poll& poll) const;

  std::vector<Segment> segments_;
  Shape shape_ = Shape::General;
  std::string literal_;
  int64_t work_per_byte_ = 1;
};

}  // namespace pistachio
