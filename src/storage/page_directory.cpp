#include "storage/page_directory.h"

#include <fmt/format.h>
#include <parquet/exception.h>
#include <parquet/page_index.h>
#include <parquet/properties.h>

#include <algorithm>

#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

DataLocation at_offset(const DataLocation& where, int64_t offset) {
  DataLocation place = where;
  place.offset = offset;
  return place;
}

}  // namespace

size_t PageDirectory::page_of(int64_t row) const {
  auto after =
      std::upper_bound(pages.begin(), pages.end(), row, [](int64_t wanted, const PagePlace& page) { return wanted < page.first_row; });
  return static_cast<size_t>(after - pages.begin()) - 1;
}

PageWalk::PageWalk(const ColumnChunkInfo& chunk, int64_t rows, DataLocation where)
    : PageWalk(chunk, rows, std::move(where), {0, rows}, {{}, chunk.pages.offset, 0}) {}

PageWalk::PageWalk(const ColumnChunkInfo& chunk, int64_t rows, DataLocation where, WalkedRows wanted, const PageMark& start)
    : chunk_(chunk), rows_(rows), where_(std::move(where)), wanted_(wanted), position_(start.offset), row_(start.row) {
  directory_.dictionary = start.dictionary;
}

void PageWalk::refuse(const std::string& problem) const {
  throw DataError(problem, at_offset(where_, position_));
}

int64_t PageWalk::position() const {
  if (position_ >= chunk_.pages.end()) refuse(fmt::format("the pages hold {} of the row group's {} rows", row_, rows_));
  return position_;
}

void PageWalk::add(const PageHeader& header) {
  ByteRange page{position_, int64_t{header.header_bytes} + header.compressed_bytes};
  int64_t left = chunk_.pages.end() - position_;
  if (page.length > left) refuse(fmt::format("page of {} bytes does not fit in the {} bytes left of its column chunk", page.length, left));
  if (header.kind == PageKind::Dictionary) {
    if (directory_.dictionary.length != 0 || row_ > 0) refuse("second dictionary page");
    directory_.dictionary = page;
  } else if (header.kind != PageKind::Other) {
    if (header.values > rows_ - row_) refuse(fmt::format("page holds {} rows, {} are left of the row group", header.values, rows_ - row_));
    if (header.values > 0 && row_ < wanted_.end && row_ + header.values > wanted_.begin)
      directory_.pages.push_back({page, row_, header.values});
    row_ += header.values;
  }
  position_ = page.end();
}

PageDirectory walk_pages(const ColumnChunkInfo& chunk, int64_t rows, std::span<const uint8_t> bytes, const DataLocation& where) {
  PageWalk walk(chunk, rows, where);
  while (!walk.is_complete()) {
    int64_t position = walk.position();
    try {
      walk.add(parse_page_header(bytes.subspan(static_cast<size_t>(position - chunk.pages.offset))));
    } catch (const MalformedThrift& problem) {
      throw damaged_page_header(problem, at_offset(where, position + static_cast<int64_t>(problem.offset())));
    }
  }
  return walk.finish();
}

PageDirectory directory_from_offset_index(const ColumnChunkInfo& chunk, int64_t rows, std::span<const uint8_t> index,
                                          const DataLocation& where) {
  PageDirectory directory;
  std::unique_ptr<parquet::OffsetIndex> parsed;
  try {
    parsed = parquet::OffsetIndex::Make(index.data(), static_cast<uint32_t>(index.size()), parquet::default_reader_properties());
  } catch (const std::exception& problem) {
    throw DataError(fmt::format("the offset index cannot be read: {}", problem.what()), at_offset(where, chunk.offset_index.offset));
  }
  const std::vector<parquet::PageLocation>& locations = parsed->page_locations();
  int64_t position = chunk.pages.offset;
  for (size_t i = 0; i < locations.size(); ++i) {
    const parquet::PageLocation& location = locations[i];
    int64_t end_row = i + 1 < locations.size() ? locations[i + 1].first_row_index : rows;
    bool first_fits = i > 0 || location.first_row_index == 0;
    if (location.offset < position || location.compressed_page_size <= 0 ||
        location.compressed_page_size > chunk.pages.end() - location.offset || !first_fits || end_row < location.first_row_index ||
        end_row > rows) {
      throw DataError(fmt::format("entry {} of the offset index contradicts its column chunk", i),
                      at_offset(where, chunk.offset_index.offset));
    }
    if (i == 0 && location.offset > chunk.pages.offset) directory.dictionary = {chunk.pages.offset, location.offset - chunk.pages.offset};
    if (end_row > location.first_row_index) {
      directory.pages.push_back(
          {{location.offset, location.compressed_page_size}, location.first_row_index, end_row - location.first_row_index});
    }
    position = location.offset + location.compressed_page_size;
  }
  if (rows > 0 && directory.pages.empty()) throw DataError("the offset index is empty", at_offset(where, chunk.offset_index.offset));
  return directory;
}

}  // namespace pistachio
