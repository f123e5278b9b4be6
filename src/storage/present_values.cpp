#include "storage/present_values.h"

#include <algorithm>

#include "kernels/ops/definition_levels_decode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// `decoded` has the rows of the pages that may have NULLs; the other pages have none and possibly no levels.
at::Tensor validity_of_all(std::span<const PreparedPage> pages, const at::Tensor& decoded) {
  std::vector<at::Tensor> parts;
  int64_t used = 0;
  for (size_t begin = 0, end = 0; begin < pages.size(); begin = end) {
    int64_t rows = 0;
    for (end = begin; end < pages.size() && pages[end].may_have_nulls == pages[begin].may_have_nulls; ++end) rows += pages[end].header.values;
    if (!pages[begin].may_have_nulls) {
      parts.push_back(at::ones({rows}, decoded.options()));
      continue;
    }
    parts.push_back(decoded.narrow(0, used, rows));
    used += rows;
  }
  return parts.size() == 1 ? parts[0] : kernels::concatenate_tensors(parts);
}

}  // namespace

PresentValues find_present_values(const ParquetColumn& column, const at::Tensor& bytes, std::span<const PreparedPage> pages,
                                  const DataLocation& where) {
  PresentValues present;
  std::vector<size_t> with_nulls;
  for (size_t i = 0; i < pages.size(); ++i) {
    present.counts.push_back(pages[i].header.values);
    if (pages[i].may_have_nulls) with_nulls.push_back(i);
  }
  if (with_nulls.empty()) return present;
  at::Tensor table = at::empty({static_cast<int64_t>(with_nulls.size()), 5}, at::kLong);
  int64_t* row = table.mutable_data_ptr<int64_t>();
  for (size_t i : with_nulls) {
    *row++ = pages[i].levels_begin;
    *row++ = pages[i].levels_end;
    *row++ = column.max_definition;
    *row++ = 0;
    *row++ = pages[i].header.values;
  }
  auto [validity, counts] = kernels::definition_levels_decode(bytes, table);
  const int64_t* valid = counts.const_data_ptr<int64_t>();
  bool all_valid = true;
  for (size_t i : with_nulls) {
    const PageHeader& header = pages[i].header;
    ++valid;  // of skipped levels: none
    int64_t there = *valid++;
    if (header.kind == PageKind::DataV2 && there != header.values - header.nulls) {
      throw DataError("page's definition levels and its count of NULLs differ",
                      {where.file, where.row_group, where.column, pages[i].file_offset});
    }
    present.counts[i] = there;
    all_valid = all_valid && there == header.values;
  }
  if (!all_valid) present.validity = validity_of_all(pages, validity);
  return present;
}

}  // namespace pistachio
