#include "storage/column_pages.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"
#include "storage/present_values.h"
#include "storage/value_decoder.h"

namespace pistachio {

namespace {

// The pages of all units, with offsets into their common upload buffer.
struct JoinedPages {
  at::Tensor bytes;
  std::vector<PreparedPage> pages;
  std::vector<size_t> unit;  // index of each page's unit
};

JoinedPages join_pages(const std::vector<const ColumnPages*>& units, PageBatch ColumnPages::*batch) {
  JoinedPages joined;
  for (size_t unit = 0; unit < units.size(); ++unit) {
    const PageBatch& own = units[unit]->*batch;
    if (own.pages.empty()) continue;
    if (!joined.bytes.defined()) joined.bytes = own.bytes;
    ENSURE(own.bytes.is_same(joined.bytes));
    for (PreparedPage page : own.pages) {
      page.levels_begin += own.begin;
      page.levels_end += own.begin;
      page.values_begin += own.begin;
      page.values_end += own.begin;
      joined.pages.push_back(page);
      joined.unit.push_back(unit);
    }
  }
  return joined;
}

at::Tensor upload(const std::vector<int64_t>& numbers, at::Device device) {
  return copied_to(at::tensor(numbers, at::kLong), device);
}

// The sum of the lengths of PLAIN text: everything in a page but the length prefixes. More if a page does not end with its last value.
int64_t text_room(const JoinedPages& group, const std::vector<int64_t>& counts) {
  int64_t room = 0;
  for (size_t page = 0; page < group.pages.size(); ++page) {
    room += group.pages[page].values_end - group.pages[page].values_begin - counts[page] * static_cast<int64_t>(sizeof(uint32_t));
  }
  return room;
}

// Decoded text refers to its pages. Copying it lets the upload buffer of all columns go when the chunk is done.
Column decode_without_pages(const ParquetColumn& stored, PageEncoding encoding, const JoinedPages& group, const std::vector<int64_t>& counts,
                            const DataLocation& where) {
  const Column column = decode_values(stored, encoding, {&group.bytes, group.pages, counts}, where);
  if (!column.type().is_text()) return column;
  const bool is_plain_text = encoding == PageEncoding::Plain && stored.physical == PhysicalType::ByteArray;
  auto [bytes, offsets] =
      kernels::text_compact(column.bytes(), column.begins(), column.ends(), is_plain_text ? text_room(group, counts) : -1);
  return Column::text(column.type(), bytes, offsets.slice(0, 0, column.rows()), offsets.slice(0, 1));
}

// The dictionaries of all units, concatenated. Entries may repeat: consumers compare values, not codes.
struct Dictionaries {
  std::optional<Column> entries;
  std::vector<DictionaryRange> ranges;  // of each unit
};

Dictionaries decode_dictionaries(const std::vector<const ColumnPages*>& units) {
  Dictionaries all;
  int64_t total = 0;
  std::vector<int64_t> counts;
  for (const ColumnPages* unit : units) {
    int64_t size = unit->dictionary.pages.empty() ? 0 : unit->dictionary.pages[0].header.values;
    if (!unit->dictionary.pages.empty()) counts.push_back(size);
    all.ranges.push_back({total, size});
    total += size;
  }
  ENSURE_LE(total, std::numeric_limits<int32_t>::max());
  if (counts.empty()) return all;
  JoinedPages joined = join_pages(units, &ColumnPages::dictionary);
  all.entries = decode_without_pages(*units[0]->column, PageEncoding::Plain, joined, counts, units[0]->where);
  return all;
}

Column decode_coded(const JoinedPages& group, const PresentValues& present, const Dictionaries& dictionaries, const ColumnPages& first) {
  const LogicalType type = first.column->type;
  std::vector<DictionaryRange> ranges;
  for (size_t unit : group.unit) ranges.push_back(dictionaries.ranges[unit]);
  at::Tensor codes = decode_codes({&group.bytes, group.pages, present.counts}, ranges, first.where);
  // Without entries every row is NULL.
  if (!dictionaries.entries || dictionaries.entries->rows() == 0) return empty_column(type, codes.device());
  if (!type.is_text()) return Column::fixed(type, kernels::dictionary_gather(dictionaries.entries->values(), codes));
  Column coded = Column::dictionary(codes, std::make_shared<const Column>(*dictionaries.entries));
  return dictionaries.entries->rows() > codes.numel() ? decode_dictionary(coded) : coded;
}

// Decodes pages of one encoding.
Column decode_group(const JoinedPages& group, const Dictionaries& dictionaries, const ColumnPages& first) {
  PresentValues present = find_present_values(*first.column, group.bytes, group.pages, first.where);
  Column dense = group.pages[0].header.uses_dictionary()
                     ? decode_coded(group, present, dictionaries, first)
                     : decode_without_pages(*first.column, group.pages[0].header.encoding, group, present.counts, first.where);
  return present.validity.defined() ? spread_rows(dense, present.validity) : dense;
}

// Pages that one call can decode, and the first row of each among all pages.
struct EncodingGroup {
  JoinedPages pages;
  std::vector<int64_t> first_rows;
};

std::vector<EncodingGroup> group_by_encoding(const JoinedPages& all) {
  std::vector<EncodingGroup> groups;
  int64_t row = 0;
  for (size_t i = 0; i < all.pages.size(); ++i) {
    const PageHeader& header = all.pages[i].header;
    auto is_alike = [&](const EncodingGroup& group) {
      const PageHeader& other = group.pages.pages[0].header;
      return other.uses_dictionary() == header.uses_dictionary() && (header.uses_dictionary() || other.encoding == header.encoding);
    };
    auto found = std::find_if(groups.begin(), groups.end(), is_alike);
    if (found == groups.end()) found = groups.insert(groups.end(), EncodingGroup{{all.bytes, {}, {}}, {}});
    found->pages.pages.push_back(all.pages[i]);
    found->pages.unit.push_back(all.unit[i]);
    found->first_rows.push_back(row);
    row += header.values;
  }
  return groups;
}

// `joined` holds the groups one after the other; restores the row order of the pages.
Column in_page_order(const Column& joined, const std::vector<EncodingGroup>& groups) {
  struct Run {
    int64_t first_row;
    int64_t place;  // first row in `joined`
    int64_t rows;
  };
  std::vector<Run> runs;
  int64_t place = 0;
  for (const EncodingGroup& group : groups) {
    for (size_t i = 0; i < group.first_rows.size(); ++i) {
      const int64_t rows = group.pages.pages[i].header.values;
      if (!runs.empty() && runs.back().first_row + runs.back().rows == group.first_rows[i] && runs.back().place + runs.back().rows == place) {
        runs.back().rows += rows;
      } else {
        runs.push_back({group.first_rows[i], place, rows});
      }
      place += rows;
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& left, const Run& right) { return left.first_row < right.first_row; });
  std::vector<int64_t> shifts;
  std::vector<int64_t> counts;
  for (const Run& run : runs) {
    shifts.push_back(run.place - run.first_row);
    counts.push_back(run.rows);
  }
  at::Tensor order = at::repeat_interleave(upload(shifts, joined.device()), upload(counts, joined.device()), 0, joined.rows());
  return take_rows(joined, order.add_(at::arange(joined.rows(), order.options())));
}

Column decode_pages(const std::vector<const ColumnPages*>& units) {
  const ColumnPages& first = *units[0];
  JoinedPages all = join_pages(units, &ColumnPages::data);
  if (all.pages.empty()) return empty_column(first.column->type, first.data.bytes.device());
  if (first.column->only_nulls) {
    int64_t rows = 0;
    for (const PreparedPage& page : all.pages) rows += page.header.values;
    return null_column(first.column->type, rows, all.bytes.device());
  }
  Dictionaries dictionaries = decode_dictionaries(units);
  std::vector<EncodingGroup> groups = group_by_encoding(all);
  if (groups.size() == 1) return decode_group(groups[0].pages, dictionaries, first);
  std::vector<Column> columns;
  for (const EncodingGroup& group : groups) columns.push_back(decode_group(group.pages, dictionaries, first));
  return in_page_order(concatenate_columns(columns), groups);
}

// Kernels know neither file nor page: decodes page by page until the bad one throws.
void find_bad_page(const std::vector<const ColumnPages*>& units) {
  for (const ColumnPages* unit : units) {
    for (const PreparedPage& page : unit->data.pages) {
      ColumnPages alone = *unit;
      alone.data.pages = {page};
      try {
        decode_pages({&alone});
      } catch (const DataError& error) {
        DataLocation where = unit->where;
        where.offset = error.location().file.empty() ? page.file_offset : error.location().offset;
        throw DataError(error.problem(), where);
      }
    }
  }
}

}  // namespace

bool is_decoded_together(const ColumnChunkInfo& chunk) {
  return std::none_of(chunk.encodings.begin(), chunk.encodings.end(), [](PageEncoding encoding) {
    return encoding == PageEncoding::DeltaByteArray || encoding == PageEncoding::DeltaLengthByteArray;
  });
}

Column decode_together(const std::vector<const ColumnPages*>& units) {
  ENSURE(!units.empty());
  std::optional<Column> column;
  try {
    column = decode_pages(units);
  } catch (const DataError&) {
    find_bad_page(units);
    throw;
  }
  bool all_wanted = std::all_of(units.begin(), units.end(), [](const ColumnPages* unit) { return !unit->wanted.defined(); });
  if (all_wanted) return *column;
  std::vector<at::Tensor> masks;
  for (const ColumnPages* unit : units) {
    int64_t rows = 0;
    for (const PreparedPage& page : unit->data.pages) rows += page.header.values;
    const at::Tensor all = unit->wanted.defined() ? at::Tensor() : at::ones({rows}, at::TensorOptions(at::kBool).device(column->device()));
    masks.push_back(all.defined() ? all : unit->wanted.view(at::kBool));
  }
  return select_rows(*column, kernels::concatenate_tensors(masks));
}

}  // namespace pistachio
