// Converts columns of partial results to rows of 64-bit words, the form that combine_rows merges, and back.
//   columns   [n] of any column dtype, or int64 [n, 2], of equal length, on the host; the first `keys` of them are the key. A value takes
//             one word (integers and booleans as int64, floating-point numbers as the bits of a double), or two
//   keep_key  false: the words of the key are left out, since its hash determines it: the key is one column of integers
//   turn      in [0, 63]: word 0 of a row is the hash of its key, as hash64 and hash64_combine compute it, rotated left by `turn` bits
//   bits      in [0, 12]: the rows are divided into 2^bits parts by the lowest bits of these hashes
// pack_words returns (rows int64 [n, width], offsets int64 [2^bits + 1]): part p holds the rows [offsets[p], offsets[p + 1]), in the order
// of their columns.
// unpack_words returns the columns of the rows of all pieces, one after the other.
// There is no CUDA body on purpose: rows are combined in host memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace pistachio::kernels {

struct WordLayout {
  int64_t keys = 1;
  bool keep_key = true;
  int64_t turn = 0;
};

// The values of a column in a row of words.
struct WordColumn {
  at::ScalarType type = at::kLong;
  bool is_wide = false;  // int64 [n, 2]
};

std::tuple<at::Tensor, at::Tensor> pack_words(const std::vector<at::Tensor>& columns, const WordLayout& layout, int64_t bits);
// `pieces`: rows that pack_words made, at least one piece.
std::vector<at::Tensor> unpack_words(const std::vector<at::Tensor>& pieces, const std::vector<WordColumn>& columns,
                                     const WordLayout& layout);

}  // namespace pistachio::kernels
