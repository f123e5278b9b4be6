// Argument checks shared by the relational operations (grouping, joining, sorting, segments); bugs of the caller throw InternalError. No
// check reads tensor elements.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace pistachio::kernels {

// int64 [n] on the device of `other`: rows, ids or hashes.
void check_words(const at::Tensor& words, const at::Tensor& other);
// A tensor that the body modifies: contiguous, of this dtype, [n] for columns == 0, else [n, columns], on the device of `other`.
void check_state(const at::Tensor& state, at::ScalarType type, int64_t columns, const at::Tensor& other);
// Checks a validity mask of `rows` rows and makes it contiguous; nullopt if undefined.
std::optional<at::Tensor> optional_validity(const at::Tensor& validity, int64_t rows, const at::Tensor& other);
bool is_power_of_two(int64_t value);
// Ranges of rows: int64 [k, m] each, k at least 1, on the device of `other`.
void check_ranges(const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& other);

}  // namespace pistachio::kernels
