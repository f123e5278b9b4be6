#include "expr/like_pattern.h"

#include <algorithm>

#include "base/error.h"
#include "expr/letter_case.h"
#include "expr/utf8_text.h"

namespace pistachio {

LikePattern::LikePattern(std::string_view pattern, std::string_view escape, bool ignores_case, const CancelToken* token) {
  WorkPoll poll(token);
  segments_.emplace_back();
  auto current = [&]() -> Piece& {
    if (segments_.back().empty()) segments_.back().emplace_back();
    return segments_.back().back();
  };
  for (size_t i = 0; i < pattern.size();) {
    poll(1);
    if (!escape.empty() && pattern.substr(i).starts_with(escape)) {
      i += escape.size();
      if (i == pattern.size()) throw UserError("the LIKE pattern ends in its escape character");
      current().literal += pattern[i++];
    } else if (pattern[i] == '%') {
      // Percent signs in a row are one.
      if (segments_.size() == 1 || !segments_.back().empty()) segments_.emplace_back();
      ++i;
    } else if (pattern[i] == '_') {
      if (!current().literal.empty()) segments_.back().emplace_back();
      ++current().skipped;
      ++i;
    } else {
      current().literal += pattern[i++];
    }
  }
  if (ignores_case) {
    for (Segment& segment : segments_) {
      for (Piece& piece : segment) piece.literal = to_lower(piece.literal, poll);
    }
  }
  choose_shape();
  for (const Segment& segment : segments_) {
    if (segment.size() < 2) continue;
    int64_t bytes = 0;
    for (const Piece& piece : segment) bytes += piece.skipped + static_cast<int64_t>(piece.literal.size());
    work_per_byte_ = std::max(work_per_byte_, bytes);
  }
}

void LikePattern::choose_shape() {
  size_t filled = 0;
  const Segment* only = nullptr;
  for (const Segment& segment : segments_) {
    if (segment.empty()) continue;
    ++filled;
    only = &segment;
  }
  if (filled == 0) {
    shape_ = segments_.size() == 1 ? Shape::Whole : Shape::Infix;  // '' and '%'
    return;
  }
  if (filled > 1 || only->size() > 1 || only->front().skipped > 0) return;
  literal_ = only->front().literal;
  if (segments_.size() == 1) {
    shape_ = Shape::Whole;
  } else if (only == &segments_.front()) {
    shape_ = Shape::Prefix;
  } else {
    shape_ = only == &segments_.back() ? Shape::Suffix : Shape::Infix;
  }
}

namespace {

template <typename Poll>
bool starts_with_bytes(const char* at, const char* end, const std::string& bytes, Poll& poll) {
  poll(static_cast<int64_t>(bytes.size()));
  return end - at >= static_cast<int64_t>(bytes.size()) && std::memcmp(at, bytes.data(), bytes.size()) == 0;
}

// Skips characters; null if there are too few.
template <typename Poll>
const char* skip_exactly(const char* at, const char* end, int64_t count, Poll& poll) {
  for (; count > 0; --count) {
    if (at == end) return nullptr;
    poll(1);
    at = next_character(at, end);
  }
  return at;
}

// Matches the pieces from `piece` on at `at`; returns the end of the match, or null.
template <typename Segment, typename Poll>
const char* match_here(const Segment& segment, size_t piece, const char* at, const char* end, Poll& poll) {
  for (; piece < segment.size(); ++piece) {
    at = skip_exactly(at, end, segment[piece].skipped, poll);
    if (at == nullptr || !starts_with_bytes(at, end, segment[piece].literal, poll)) return nullptr;
    at += segment[piece].literal.size();
  }
  return at;
}

// The end of the earliest match of the segment, or null.
template <typename Segment, typename Poll>
const char* match_later(const Segment& segment, const char* at, const char* end, Poll& poll) {
  at = skip_exactly(at, end, segment[0].skipped, poll);
  while (at != nullptr) {
    at = find_bytes(at, end, segment[0].literal, poll);
    if (at == nullptr) return nullptr;
    if (const char* behind = match_here(segment, 1, at + segment[0].literal.size(), end, poll)) return behind;
    at = at < end ? next_character(at, end) : nullptr;
  }
  return nullptr;
}

// Whether the segment matches the end of [at, end).
template <typename Segment, typename Poll>
bool match_end(const Segment& segment, const char* at, const char* end, Poll& poll) {
  for (size_t piece = segment.size(); piece-- > 0;) {
    int64_t length = static_cast<int64_t>(segment[piece].literal.size());
    poll(length);
    if (end - at < length || std::memcmp(end - length, segment[piece].literal.data(), static_cast<size_t>(length)) != 0) return false;
    end -= length;
    for (int64_t skipped = segment[piece].skipped; skipped > 0; --skipped) {
      if (end == at) return false;
      poll(1);
      end = previous_character(end, at);
    }
  }
  return true;
}

}  // namespace

template <typename Poll>
bool LikePattern::matches_general(std::string_view text, Poll& poll) const {
  const char* at = text.data();
  const char* end = at + text.size();
  at = match_here(segments_.front(), 0, at, end, poll);
  if (at == nullptr) return false;
  if (segments_.size() == 1) return at == end;
  for (size_t i = 1; i + 1 < segments_.size(); ++i) {
    at = match_later(segments_[i], at, end, poll);
    if (at == nullptr) return false;
  }
  return match_end(segments_.back(), at, end, poll);
}

template <typename Poll>
bool LikePattern::matches(std::string_view text, Poll& poll) const {
  switch (shape_) {
    case Shape::Whole: return text == literal_;
    case Shape::Prefix: return text.starts_with(literal_);
    case Shape::Suffix: return text.ends_with(literal_);
    case Shape::Infix: return find_bytes(text.data(), text.data() + text.size(), literal_, poll) != nullptr;
    case Shape::General: return matches_general(text, poll);
  }
  return false;
}

template bool LikePattern::matches(std::string_view text, NoPoll& poll) const;
template bool LikePattern::matches(std::string_view text, WorkPoll& poll) const;

}  // namespace pistachio
