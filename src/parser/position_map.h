// Text with pieces replaced, and the way back: from a byte of the new text to the byte of the old one it stands for. So errors and tree
// positions speak of what the user wrote although libpg_query read something else. A value; owned by the rewritten statement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

struct Replacement {
  int64_t begin = 0;  // bytes of the old text; begin == end inserts
  int64_t end = 0;
  std::string text;
};

class PositionMap {
 public:
  // The old byte for a new one. All bytes of a replacement stand for the beginning of what it replaced.
  int64_t to_original(int64_t position) const;
  // Whether the byte belongs to a replacement.
  bool is_replaced(int64_t position) const;

 private:
  friend std::string replace_pieces(std::string_view text, int64_t begin, int64_t end, const std::vector<Replacement>& replacements,
                                    PositionMap& map);
  struct Piece {
    int64_t new_begin;
    int64_t old_begin;
    bool copied;
  };
  const Piece& piece_at(int64_t position) const;

  std::vector<Piece> pieces_;
};

// The part [begin, end) of the text with the replacements, which are in order and do not overlap.
std::string replace_pieces(std::string_view text, int64_t begin, int64_t end, const std::vector<Replacement>& replacements,
                           PositionMap& map);

}  // namespace pistachio
