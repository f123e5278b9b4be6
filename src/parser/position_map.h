// Rewrites text by replacing pieces, and maps byte positions of the new text back to the original. So errors and tree positions refer to
// what the user wrote although libpg_query parsed the rewritten text. A plain value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pistachio {

struct Replacement {
  int64_t begin = 0;  // bytes of the old text; begin == end inserts
  int64_t end = 0;
  std::string text;
};

class PositionMap {
 public:
  // For text that was rewritten twice: `first` maps the text that this map leads to.
  void follow(PositionMap first) { first_ = std::make_shared<const PositionMap>(std::move(first)); }
  // The original position. All bytes of a replacement map to the start of what it replaced.
  int64_t to_original(int64_t position) const;
  // Whether the byte belongs to a replacement.
  bool is_replaced(int64_t position) const;

 private:
  friend class PieceWriter;
  friend std::string replace_pieces(std::string_view text, int64_t begin, int64_t end, const std::vector<Replacement>& replacements,
                                    PositionMap& map);
  struct Piece {
    int64_t new_begin;
    int64_t old_begin;
    bool copied;
  };
  const Piece& piece_at(int64_t position) const;

  std::vector<Piece> pieces_;
  std::shared_ptr<const PositionMap> first_;
};

// Writes a new text from pieces of the old one, in any order.
class PieceWriter {
 public:
  void copy(std::string_view text, int64_t begin, int64_t end);
  // `position`: of the old text, where errors in the new piece point to.
  void insert(std::string_view piece, int64_t position);
  std::string take_text() { return std::move(text_); }
  PositionMap take_map() { return std::move(map_); }

 private:
  std::string text_;
  PositionMap map_;
};

// [begin, end) of the text with the replacements applied, which must be sorted and disjoint.
std::string replace_pieces(std::string_view text, int64_t begin, int64_t end, const std::vector<Replacement>& replacements,
                           PositionMap& map);

}  // namespace pistachio
