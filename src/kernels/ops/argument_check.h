// The argument checks that several front doors share. They guard against bugs of the caller (InternalError): shapes, dtypes, devices.
// What a file says is never checked here; the bodies check that and throw DataError. No check reads tensor elements, except those of
// the small page tables, which always are on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

// uint8, one-dimensional.
void check_bytes(const at::Tensor& bytes);
// A page table: int64 [pages, columns] on the CPU, whose first columns are begin and end inside `bytes` and whose last two are skip and
// take, neither negative.
void check_page_table(const at::Tensor& bytes, const at::Tensor& pages, int64_t columns);
// The sum of the take column.
int64_t total_take(const at::Tensor& pages);
// No table or a table without rows.
bool is_empty_table(const at::Tensor& pages);

// A dtype that columns have (bool, uint8, int8 .. int64, float, double), shape [n] or, for int64, [n, 2] (two-word decimals).
void check_values(const at::Tensor& values);
bool is_wide(const at::Tensor& values);
// bool [rows] on the device of `other`.
void check_mask(const at::Tensor& mask, int64_t rows, const at::Tensor& other);
// int32 [n] on the device of `other`.
void check_codes(const at::Tensor& codes, const at::Tensor& other);
// Text: uint8 bytes, int64 begins and ends of equal length, one device.
void check_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends);

}  // namespace pistachio::kernels
