// See position_map.h.
#include "parser/position_map.h"

#include <algorithm>

#include "base/check.h"

namespace pistachio {

const PositionMap::Piece& PositionMap::piece_at(int64_t position) const {
  ENSURE(!pieces_.empty());
  auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), position, [](int64_t at, const Piece& piece) { return at < piece.new_begin; });
  return after == pieces_.begin() ? *after : *std::prev(after);
}

int64_t PositionMap::to_original(int64_t position) const {
  const Piece& piece = piece_at(position);
  const int64_t old = piece.copied ? piece.old_begin + (position - piece.new_begin) : piece.old_begin;
  return first_ == nullptr ? old : first_->to_original(old);
}

bool PositionMap::is_replaced(int64_t position) const {
  const Piece& piece = piece_at(position);
  if (!piece.copied || first_ == nullptr) return !piece.copied;
  return first_->is_replaced(piece.old_begin + (position - piece.new_begin));
}

void PieceWriter::copy(std::string_view text, int64_t begin, int64_t end) {
  map_.pieces_.push_back({static_cast<int64_t>(text_.size()), begin, true});
  text_ += text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

void PieceWriter::insert(std::string_view piece, int64_t position) {
  map_.pieces_.push_back({static_cast<int64_t>(text_.size()), position, false});
  text_ += piece;
}

std::string replace_pieces(std::string_view text, int64_t begin, int64_t end, const std::vector<Replacement>& replacements,
                           PositionMap& map) {
  std::string result;
  map.pieces_.clear();
  int64_t at = begin;
  const auto new_position = [&] { return static_cast<int64_t>(result.size()); };
  for (const Replacement& replacement : replacements) {
    ENSURE_LE(at, replacement.begin);
    map.pieces_.push_back({new_position(), at, true});
    result += text.substr(static_cast<size_t>(at), static_cast<size_t>(replacement.begin - at));
    map.pieces_.push_back({new_position(), replacement.begin, false});
    result += replacement.text;
    at = replacement.end;
  }
  map.pieces_.push_back({new_position(), at, true});
  result += text.substr(static_cast<size_t>(at), static_cast<size_t>(end - at));
  return result;
}

}  // namespace pistachio
