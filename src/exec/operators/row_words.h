// Rows of partial results as rows of 64-bit words, the form that kernels/ops/combine_rows.h merges: a hash, the key, the state. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exec/operators/combine_tables.h"
#include "exec/operators/text_numbers.h"
#include "kernels/ops/merge_op.h"

namespace pistachio {

class RowWords {
 public:
  // Nullopt: there is no key or there are more than 63, or a state has no form of words: moments, sketches, and
  // extremes or any value of text and of two-word values.
  static std::optional<RowWords> of(const CombinedColumns& columns);

  int64_t width() const { return width_; }
  // As in combine_rows.
  int64_t key_words() const { return key_words_; }
  const std::vector<kernels::MergeOp>& merges() const { return merges_; }

  // Rows that have no form of words: a NULL that there is no word for, a sum that is not finite (the sum of others may become so, which is
  // an error). Undefined: there are none.
  at::Tensor without_words(const Chunk& chunk) const;
  // int64 [rows, width]
  at::Tensor words_of(const Chunk& chunk, const CancelToken& token);
  // UserError: a sum is not finite.
  Chunk chunk_of(const at::Tensor& words);

  // Of texts: grow with every text that comes.
  int64_t text_bytes() const;
  // Words made before have no meaning any more.
  void forget_texts();

 private:
  struct Field {
    size_t place = 0;  // in the chunk
    LogicalType type = TypeKind::BigInt;
    int64_t word = 0;
    std::unique_ptr<TextNumbers> texts;                         // of a text
    kernels::MergeOp merge = kernels::MergeOp::KeepFirst;  // of a state
  };

  RowWords() = default;
  at::Tensor key_of(const Field& field, const Column& column, const CancelToken& token);

  size_t columns_ = 0;
  int64_t width_ = 1;
  int64_t key_words_ = 0;
  int64_t null_word_ = 0;  // a bit for each key that is NULL; 0: there is no such word
  std::vector<Field> keys_;
  std::vector<Field> states_;
  std::vector<kernels::MergeOp> merges_;
};

}  // namespace pistachio
