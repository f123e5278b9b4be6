// Converts physical Parquet values to tensors of the column's logical type. Dense values in, a dense column without validity out.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/error.h"
#include "data/column.h"
#include "storage/parquet_column.h"

namespace pistachio {

// bool, int32, int64, float or double, 1-D.
Column convert_numbers(const ParquetColumn& column, at::Tensor values, const DataLocation& where);
// uint8 [n, width].
Column convert_fixed_bytes(const ParquetColumn& column, const at::Tensor& rows, const DataLocation& where);
Column convert_text(const ParquetColumn& column, const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                    const DataLocation& where);

}  // namespace pistachio
