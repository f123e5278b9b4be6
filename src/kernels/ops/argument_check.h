// Argument checks shared by several operations. They catch bugs of the caller (InternalError): shapes, dtypes, devices. File contents are
// checked by the bodies, which throw DataError. No check reads tensor elements, except the elements of page tables, which are small and
// always on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pistachio::kernels {

// uint8, one-dimensional.
void check_bytes(const at::Tensor& bytes);
// A page table: int64 [pages, columns] on the CPU; the first two columns are begin and end inside `bytes`, the last two skip and take,
// which are not negative.
void check_page_table(const at::Tensor& bytes, const at::Tensor& pages, int64_t columns);
// The sum of the take column.
int64_t total_take(const at::Tensor& pages);
// Undefined, or without rows.
bool is_empty_table(const at::Tensor& pages);

// A column dtype (bool, uint8, int8 .. int64, float, double), shape [n] or, for int64, [n, 2] (two-word decimals).
void check_values(const at::Tensor& values);
bool is_wide(const at::Tensor& values);
// bool [rows] on the device of `other`.
void check_mask(const at::Tensor& mask, int64_t rows, const at::Tensor& other);
// int32 [n] on the device of `other`.
void check_codes(const at::Tensor& codes, const at::Tensor& other);
// Text: uint8 bytes, int64 begins and ends of equal length, one device.
void check_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends);

}  // namespace pistachio::kernels
