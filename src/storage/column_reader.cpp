#include "storage/column_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "columns/concatenate_columns.h"
#include "columns/row_selection.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/present_values.h"
#include "storage/value_decoder.h"

namespace pistachio {

namespace {

bool any_true(const at::Tensor& mask, int64_t begin, int64_t count) {
  return std::memchr(mask.const_data_ptr<bool>() + begin, 1, static_cast<size_t>(count)) != nullptr;
}

}  // namespace

ColumnReader::ColumnReader(const ParquetColumn& column, const ColumnChunkInfo& chunk, PageDirectory directory, std::vector<FileBytes> bytes,
                           DataLocation where, Options options)
    : column_(column), chunk_(chunk), directory_(std::move(directory)), bytes_(std::move(bytes)), decompressor_(chunk.codec, where) {
  source_ = {&column_, &chunk_, &bytes_, &decompressor_, options.verify_checksums, options.bytes_are_staged,
             options.device_decompression, std::move(where)};
}

std::shared_ptr<const Column> ColumnReader::dictionary() {
  if (dictionary_loaded_ || directory_.dictionary.length == 0) return dictionary_;
  PageBatch batch = prepare_dictionary_page(source_, directory_.dictionary);
  int64_t count = batch.pages[0].header.values;
  DataLocation where = source_.where;
  where.offset = directory_.dictionary.offset;
  try {
    dictionary_ = std::make_shared<const Column>(
        decode_values(column_, PageEncoding::Plain, {&batch.bytes, batch.pages, std::span(&count, 1)}, where));
  } catch (const DataError& error) {
    if (!error.location().file.empty()) throw;
    throw DataError(error.problem(), where);
  }
  dictionary_loaded_ = true;
  return dictionary_;
}

// Pages [first, last) of the batch, all of one encoding.
Column ColumnReader::decode_group(const PageBatch& batch, size_t first, size_t last) {
  if (column_.only_nulls) {
    int64_t rows = 0;
    for (size_t i = first; i < last; ++i) rows += batch.pages[i].header.values;
    return null_column(column_.type, rows, at::kCPU);
  }
  std::span<const PreparedPage> pages(batch.pages.data() + first, last - first);
  PresentValues present = find_present_values(column_, batch.bytes, pages, source_.where);
  EncodedValues values{&batch.bytes, pages, present.counts};
  DataLocation where = source_.where;
  where.offset = pages[0].file_offset;
  std::optional<Column> dense;
  if (pages[0].header.uses_dictionary()) {
    std::shared_ptr<const Column> entries = dictionary();
    const std::vector<DictionaryRange> ranges(pages.size(), {0, entries == nullptr ? 0 : entries->rows()});
    at::Tensor codes = decode_codes(values, ranges, source_.where);
    // Without entries every row is NULL, and a NULL row still needs a valid code.
    dense = entries == nullptr || entries->rows() == 0 ? empty_column(column_.type, at::kCPU) : Column::dictionary(std::move(codes), std::move(entries));
  } else {
    dense = decode_values(column_, pages[0].header.encoding, values, where);
  }
  return present.validity.defined() ? spread_rows(*dense, present.validity) : *dense;
}

// Decodes a group; errors name the page, which kernels do not know.
Column ColumnReader::decode_located(const PageBatch& batch, size_t first, size_t last) {
  std::exception_ptr problem;
  try {
    return decode_group(batch, first, last);
  } catch (const DataError& error) {
    if (last - first == 1) {
      if (!error.location().file.empty()) throw;
      DataLocation where = source_.where;
      where.offset = batch.pages[first].file_offset;
      throw DataError(error.problem(), where);
    }
    problem = std::current_exception();
  }
  // Decode page by page until the bad one throws.
  for (size_t page = first; page < last; ++page) decode_located(batch, page, page + 1);
  std::rethrow_exception(problem);
}

Column ColumnReader::decode_pages(size_t first, size_t last) {
  PageBatch batch = prepare_data_pages(source_, std::span(directory_.pages).subspan(first, last - first));
  pages_decoded_ += static_cast<int64_t>(last - first);
  std::vector<Column> pieces;
  size_t begin = 0;
  for (size_t end = 1; end <= batch.pages.size(); ++end) {
    if (end < batch.pages.size() && batch.pages[end].header.uses_dictionary() == batch.pages[begin].header.uses_dictionary() &&
        (batch.pages[end].header.uses_dictionary() || batch.pages[end].header.encoding == batch.pages[begin].header.encoding)) {
      continue;
    }
    pieces.push_back(decode_located(batch, begin, end));
    begin = end;
  }
  return concatenate_columns(pieces);
}

ColumnPages ColumnReader::prepare(const RowRanges& wanted, StagingArea& staging) {
  std::vector<PagePlace> places;
  std::vector<at::Tensor> masks;  // undefined: all rows of the page
  for (const PagePlace& page : directory_.pages) {
    if (!wanted.overlaps(page.first_row, page.end_row())) continue;
    places.push_back(page);
    masks.push_back(wanted.mask(page.first_row, page.end_row()));
  }
  ColumnPages pages;
  pages.column = &column_;
  pages.where = source_.where;
  pages.data = prepare_data_pages(source_, places, &staging);
  pages_decoded_ += static_cast<int64_t>(places.size());
  bool uses_dictionary = std::any_of(pages.data.pages.begin(), pages.data.pages.end(),
                                     [](const PreparedPage& page) { return page.header.uses_dictionary(); });
  if (uses_dictionary && directory_.dictionary.length > 0) pages.dictionary = prepare_dictionary_page(source_, directory_.dictionary, &staging);
  if (std::any_of(masks.begin(), masks.end(), [](const at::Tensor& mask) { return mask.defined(); })) {
    for (size_t i = 0; i < masks.size(); ++i) {
      if (!masks[i].defined()) masks[i] = at::ones({places[i].rows}, at::kBool);
    }
    at::Tensor wanted_rows = kernels::concatenate_tensors(masks);
    pages.wanted = staging.allocate(wanted_rows.numel()).copy_(wanted_rows);
  }
  return pages;
}

Column ColumnReader::read(int64_t begin, int64_t count, const at::Tensor& mask) {
  int64_t end = begin + count;
  std::vector<Column> pieces;
  auto take = [&](const Column& decoded, int64_t decoded_begin) {
    int64_t from = std::max(begin, decoded_begin);
    int64_t to = std::min(end, decoded_begin + decoded.rows());
    if (from >= to) return;
    Column part = decoded.slice(from - decoded_begin, to - from);
    pieces.push_back(mask.defined() ? select_rows(part, mask.narrow(0, from - begin, to - from)) : part);
  };

  int64_t row = begin;
  if (leftover_) {
    int64_t leftover_end = leftover_begin_ + leftover_->rows();
    if (leftover_end > begin) {
      ENSURE_LE(leftover_begin_, begin);
      take(*leftover_, leftover_begin_);
      row = std::min(end, leftover_end);
    }
    if (leftover_end <= end) leftover_.reset();
  }
  while (row < end) {
    // A run of consecutive wanted pages; pages without a wanted row are skipped.
    auto wanted = [&](const PagePlace& page) {
      int64_t from = std::max(row, page.first_row);
      int64_t to = std::min(end, page.end_row());
      return !mask.defined() || any_true(mask, from - begin, to - from);
    };
    size_t first = directory_.page_of(row);
    size_t last = first;
    while (last < directory_.pages.size() && directory_.pages[last].first_row < end && wanted(directory_.pages[last])) ++last;
    if (last == first) {
      row = directory_.pages[first].end_row();
      continue;
    }
    Column decoded = decode_pages(first, last);
    int64_t decoded_begin = directory_.pages[first].first_row;
    take(decoded, decoded_begin);
    row = directory_.pages[last - 1].end_row();
    if (row > end) {
      leftover_ = decoded.slice(end - decoded_begin, row - end);
      leftover_begin_ = end;
    }
  }
  return pieces.empty() ? empty_column(column_.type, at::kCPU) : concatenate_columns(pieces);
}

}  // namespace pistachio
