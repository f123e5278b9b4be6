// Rows of partial results as rows of 64-bit words, the form that kernels/ops/combine_rows.h merges: a hash, the key, the state. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "exec/operators/combine_tables.h"
#include "exec/operators/text_interner.h"
#include "kernels/ops/merge_op.h"
#include "kernels/ops/pack_words.h"

namespace pistachio {

class RowWords {
 public:
  // Word 0 is the key's hash turned left by this many bits.
  static constexpr int kTurn = 6;

  // Nullopt if there is no key or more than 63, or if a state cannot be encoded as words: sketches, and min, max or any_value of text and
  // of two-word values.
  static std::optional<RowWords> of(const CombinedColumns& columns);

  int64_t width() const { return width_; }
  // As in combine_rows.
  int64_t key_words() const { return key_words_; }
  const std::vector<kernels::MergeOp>& merges() const { return merges_; }

  // bool [rows]: rows that cannot be encoded: with a NULL that has no code, or with a non-finite sum (which must stay distinguishable from
  // a sum that overflows in the tables, an error). Undefined: none.
  at::Tensor without_words(const Chunk& chunk) const;
  // Rows int64 [rows, width] in 2^bits parts, and the offsets of these, as pack_words returns them.
  std::tuple<at::Tensor, at::Tensor> words_of(const Chunk& chunk, int64_t bits, const CancelToken& token);
  // The rows of all pieces, at least one. Throws UserError if a sum is not finite: it overflowed.
  Chunk chunk_of(const std::vector<at::Tensor>& pieces);

  // Bytes of the text numbering, which grows with every new text.
  int64_t text_bytes() const;
  // Clears the text numbering; words made before become invalid.
  void forget_texts();

 private:
  struct Field {
    size_t place = 0;  // column in the chunk
    LogicalType type = TypeKind::BigInt;
    std::unique_ptr<TextInterner> texts;                   // of a text
    kernels::MergeOp merge = kernels::MergeOp::KeepFirst;  // of a state
  };

  RowWords() = default;
  at::Tensor key_of(const Field& field, const Column& column, const CancelToken& token);
  at::Tensor null_bits_of(const Chunk& chunk) const;

  size_t columns_ = 0;
  int64_t width_ = 1;
  int64_t key_words_ = 0;
  bool has_null_word_ = false;  // after the keys: a word with a bit per NULL key
  std::vector<Field> keys_;
  std::vector<Field> states_;
  std::vector<kernels::MergeOp> merges_;
  kernels::WordLayout layout_;
  std::vector<kernels::WordColumn> word_columns_;  // keys, null word, states
};

}  // namespace pistachio
