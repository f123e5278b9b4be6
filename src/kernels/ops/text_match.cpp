// Entry point of text_match.
#include "kernels/ops/text_match.h"

#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/dispatch.h"

namespace pistachio::kernels {

namespace {

void check_pieces(const at::Tensor& pieces, std::string_view literals, int64_t segments) {
  ENSURE(pieces.is_cpu() && pieces.scalar_type() == at::kLong && pieces.dim() == 2 && pieces.size(1) == 3);
  ENSURE_GE(segments, 1);
  int64_t segment = 0, length = 0;
  auto rows = pieces.accessor<int64_t, 2>();
  for (int64_t i = 0; i < rows.size(0); ++i) {
    ENSURE(rows[i][0] >= segment && rows[i][0] < segments && rows[i][1] >= 0 && rows[i][2] >= 0, "piece {}", i);
    segment = rows[i][0];
    length += rows[i][2];
  }
  ENSURE_EQ(length, static_cast<int64_t>(literals.size()));
}

}  // namespace

at::Tensor text_match(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& pieces, std::string_view literals,
                      int64_t segments) {
  check_text(bytes, begins, ends);
  check_pieces(pieces, literals, segments);
  static const Operation<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, std::string_view, int64_t)>
      operation("text_match");
  return operation.on(bytes)(bytes.contiguous(), begins.contiguous(), ends.contiguous(), pieces.contiguous(), literals, segments);
}

}  // namespace pistachio::kernels
