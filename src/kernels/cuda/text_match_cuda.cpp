// CUDA bodies of text_match and text_substring, on torch's current stream. No synchronization.
#include "kernels/cuda/text_match_cuda.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cuda/decode_status.h"
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/text_column.h"
#include "kernels/ops/body_table.h"

namespace pistachio::kernels::cuda {

namespace {

at::Tensor text_match(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& pieces, std::string_view literals,
                      int64_t segments) {
  const KernelCall call(bytes);
  std::vector<LikePiece> own;
  std::vector<int64_t> segment_begins = {0};
  int64_t place = 0;
  auto rows = pieces.accessor<int64_t, 2>();
  for (int64_t i = 0; i < rows.size(0); ++i) {
    while (static_cast<int64_t>(segment_begins.size()) <= rows[i][0]) segment_begins.push_back(i);
    LikePiece piece{rows[i][1], place, rows[i][2], 0, 0};
    const auto known = static_cast<size_t>(std::min<int64_t>(piece.literal_length, 8));
    std::memcpy(&piece.key, literals.data() + place, known);
    std::memset(&piece.mask, 0xff, known);
    own.push_back(piece);
    place += piece.literal_length;
  }
  while (static_cast<int64_t>(segment_begins.size()) <= segments) segment_begins.push_back(rows.size(0));
  const UploadedTable<LikePiece> piece_table(own);
  const UploadedTable<int64_t> begin_table(segment_begins);
  const at::Tensor literal_bytes = upload_bytes(literals.data(), static_cast<int64_t>(literals.size()));
  at::Tensor result = empty_flags(bytes, begins.size(0));
  match_texts(text_column(bytes, begins, ends), begins.size(0),
              {piece_table.data(), begin_table.data(), literal_bytes.const_data_ptr<uint8_t>(), segments}, result.mutable_data_ptr<bool>(),
              call.stream());
  return result;
}

std::tuple<at::Tensor, at::Tensor> text_substring(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, int64_t skipped,
                                                  int64_t count) {
  const KernelCall call(bytes);
  const int64_t rows = begins.size(0);
  at::Tensor new_begins = empty_words(begins, rows), new_ends = empty_words(begins, rows);
  cut_texts(text_column(bytes, begins, ends), rows, skipped, count, new_begins.mutable_data_ptr<int64_t>(), new_ends.mutable_data_ptr<int64_t>(),
            call.stream());
  return {new_begins, new_ends};
}

}  // namespace

REGISTER_BODY(Cuda, "text_match", text_match);
REGISTER_BODY(Cuda, "text_substring", text_substring);

}  // namespace pistachio::kernels::cuda
