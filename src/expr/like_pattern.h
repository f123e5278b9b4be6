// A precompiled LIKE pattern: common shapes (no wildcard, prefix%, %suffix, %infix%) have their own loops, others are matched segment by
// segment between the percent signs, in linear time. Immutable after construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

class LikePattern {
 public:
  // `escape` is one character, or empty for none. Throws UserError for a pattern that ends in it.
  // `ignores_case`: the text to match must be in lower case.
  LikePattern(std::string_view pattern, std::string_view escape, bool ignores_case = false);

  // `text.data()` is not null.
  bool matches(std::string_view text) const;

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
  // What stands between percent signs; the first and the last are anchored.
  const std::vector<Segment>& segments() const { return segments_; }

 private:
  void choose_shape();
  bool matches_general(std::string_view text) const;

  std::vector<Segment> segments_;
  Shape shape_ = Shape::General;
  std::string literal_;
};

}  // namespace pistachio
