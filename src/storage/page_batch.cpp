#include "storage/page_batch.h"

#include <arrow/util/crc32.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/thrift_compact_reader.h"

namespace pistachio {

namespace {

// Largest plausible compression ratio of a chunk whose footer lacks a plausible uncompressed size.
constexpr int64_t kMaxBelievedCompression = 4096;
// Read from a mapped page: enough for the header and the first values of most pages.
constexpr int64_t kStartBytes = 1024;

struct RawPage {
  PageHeader header;
  const FileBytes* holder;
  int64_t body_begin;  // offset in holder->bytes
  int64_t file_offset;
  HostBytes start;  // of the page, header included; the whole page unless it is mapped
};

DataLocation at_page(const PageSource& source, int64_t file_offset) {
  DataLocation place = source.where;
  place.offset = file_offset;
  return place;
}

const FileBytes& holder_of(const PageSource& source, ByteRange place) {
  auto after = std::upper_bound(source.bytes->begin(), source.bytes->end(), place.offset,
                                [](int64_t offset, const FileBytes& piece) { return offset < piece.offset; });
  ENSURE(after != source.bytes->begin(), "page at {} was not read", place.offset);
  const FileBytes& holder = *(after - 1);
  ENSURE(place.end() <= holder.end(), "page at {} was not read as a whole", place.offset);
  return holder;
}

void read_header(const PageSource& source, ByteRange place, RawPage& page) {
  const FileBytes& holder = *page.holder;
  for (int64_t length = holder.mapped_file == nullptr ? place.length : kStartBytes;; length *= 16) {
    length = std::min(length, place.length);
    page.start = holder.on_host(place.offset - holder.offset, length);
    try {
      page.header = parse_page_header(page.start.bytes);
      return;
    } catch (const MalformedThrift& problem) {
      if (length == place.length) throw damaged_page_header(problem, at_page(source, place.offset + static_cast<int64_t>(problem.offset())));
    }
  }
}

RawPage locate_page(const PageSource& source, ByteRange place) {
  RawPage page;
  page.holder = &holder_of(source, place);
  page.file_offset = place.offset;
  int64_t begin = place.offset - page.holder->offset;
  read_header(source, place, page);
  page.body_begin = begin + page.header.header_bytes;
  const PageHeader& header = page.header;
  if (int64_t{header.header_bytes} + header.compressed_bytes > place.length)
    throw DataError("page is longer than its index entry says", at_page(source, place.offset));
  const ColumnChunkInfo& chunk = *source.chunk;
  const int64_t most =
      chunk.has_uncompressed_bytes ? std::max(chunk.uncompressed_bytes, chunk.pages.length) : chunk.pages.length * kMaxBelievedCompression;
  if (header.uncompressed_bytes > most) {
    throw DataError(
        fmt::format("page claims {} bytes, its whole column chunk at most {}", header.uncompressed_bytes, most),
        at_page(source, place.offset));
  }
  if (source.verify_checksums && header.checksum) {
    const HostBytes body = page.holder->on_host(page.body_begin, header.compressed_bytes);
    const uint32_t checksum = arrow::internal::crc32(0, body.bytes.data(), body.bytes.size());
    if (checksum != *header.checksum) throw DataError("page is damaged: its checksum does not match", at_page(source, place.offset));
  }
  return page;
}

// Version 2 pages store their levels uncompressed in front of the values.
int64_t plain_prefix(const PageHeader& header) {
  return header.kind == PageKind::DataV2 ? int64_t{header.definition_bytes} + header.repetition_bytes : 0;
}

bool needs_decompression(const PageSource& source, const PageHeader& header) {
  return !source.decompressor->is_identity() && (header.kind != PageKind::DataV2 || header.is_compressed);
}

void check_sizes(const PageSource& source, const RawPage& page) {
  const PageHeader& header = page.header;
  int64_t prefix = plain_prefix(header);
  if (needs_decompression(source, header)) {
    source.decompressor->check_claim(header.compressed_bytes - prefix, header.uncompressed_bytes - prefix,
                                     at_page(source, page.file_offset));
  } else if (header.uncompressed_bytes != header.compressed_bytes) {
    throw DataError(fmt::format("uncompressed page claims {} bytes and has {}", header.uncompressed_bytes, header.compressed_bytes),
                    at_page(source, page.file_offset));
  }
}

// True if the levels are a single run of the highest level, which is how writers encode a page without NULLs.
bool is_single_run_of_values(const uint8_t* levels, int64_t length, int64_t rows, int max_definition) {
  uint64_t head = 0;
  int64_t position = 0;
  for (int shift = 0; shift < 35 && position < length; shift += 7) {
    uint8_t byte = levels[position++];
    head |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return (head & 1) == 0 && static_cast<int64_t>(head >> 1) >= rows && position < length && levels[position] == max_definition &&
             max_definition < 128;
  }
  return false;
}

// Length of the definition levels of a version 1 page, from its first bytes.
int64_t levels_length(const PageSource& source, std::span<const uint8_t> start, const PreparedPage& page) {
  const int64_t size = page.header.uncompressed_bytes;
  uint32_t length = 0;
  if (size < 4) throw DataError("page is too short for its definition levels", at_page(source, page.file_offset));
  std::memcpy(&length, start.data(), 4);
  if (length > size - 4) {
    throw DataError(fmt::format("definition levels claim {} bytes, the page has {}", length, size - 4), at_page(source, page.file_offset));
  }
  return length;
}

// `start` holds the page's first bytes, at least its levels and the head of its values; `begin` is the page's offset in the batch.
void find_levels(const PageSource& source, std::span<const uint8_t> start, int64_t begin, PreparedPage& page) {
  const PageHeader& header = page.header;
  int64_t end = begin + header.uncompressed_bytes;
  page.values_begin = begin;
  page.values_end = end;
  int max_definition = source.column->max_definition;
  if (header.kind == PageKind::DataV2) {
    // Some writers add repetition levels to flat columns; all of them are 0.
    page.levels_begin = begin + header.repetition_bytes;
    page.levels_end = page.levels_begin + header.definition_bytes;
    page.values_begin = page.levels_end;
    // Do not trust the header's NULL count alone; decoding the levels detects a wrong one. Some writers omit the levels of pages without
    // NULLs.
    bool levels_may_say_so = header.definition_bytes > 0 && !is_single_run_of_values(start.data() + header.repetition_bytes,
                                                                                     header.definition_bytes, header.values, max_definition);
    page.may_have_nulls = max_definition > 0 && (header.nulls > 0 || levels_may_say_so);
    if (max_definition == 0 && header.nulls > 0) throw DataError("page of a required column has NULLs", at_page(source, page.file_offset));
  } else if (max_definition > 0) {
    if (header.level_encoding != PageEncoding::Rle) {
      throw DataError(fmt::format("definition levels are in {}, which is not supported", encoding_name(header.level_encoding)),
                      at_page(source, page.file_offset));
    }
    const int64_t length = levels_length(source, start, page);
    page.levels_begin = begin + 4;
    page.levels_end = page.levels_begin + length;
    page.values_begin = page.levels_end;
    page.may_have_nulls = !is_single_run_of_values(start.data() + 4, length, header.values, max_definition);
  }
  page.head = ValuesHead(start.subspan(static_cast<size_t>(page.values_begin - begin)));
}

// The start of a page that stays compressed or mapped, as find_levels() needs it.
std::vector<uint8_t> decompressed_start(const PageSource& source, const RawPage& raw, const PreparedPage& page) {
  constexpr int64_t kFirstTry = 64;  // enough for most pages without NULLs
  const PageHeader& header = raw.header;
  const int64_t plain = needs_decompression(source, header) ? plain_prefix(header) : header.compressed_bytes;
  const int64_t size = header.uncompressed_bytes;
  std::vector<uint8_t> start;
  auto fill = [&](int64_t bytes) {
    start.resize(static_cast<size_t>(std::min(bytes, size)));
    // A Snappy element takes at most five bytes beside the bytes it yields, and yields at least one.
    const int64_t needed = std::min<int64_t>(header.compressed_bytes, bytes <= plain ? bytes : plain + 6 * (bytes - plain) + 16);
    std::span<const uint8_t> body = raw.start.bytes.subspan(static_cast<size_t>(header.header_bytes));
    HostBytes more;
    if (static_cast<int64_t>(body.size()) < needed) {
      more = raw.holder->on_host(raw.body_begin, needed);
      body = more.bytes;
    }
    body = body.first(std::min(body.size(), static_cast<size_t>(header.compressed_bytes)));
    std::copy_n(body.begin(), std::min<int64_t>(plain, static_cast<int64_t>(start.size())), start.begin());
    if (static_cast<int64_t>(start.size()) <= plain) return;
    source.decompressor->decompress_start(body.subspan(static_cast<size_t>(plain)), static_cast<size_t>(size - plain),
                                          std::span(start).subspan(static_cast<size_t>(plain)), at_page(source, raw.file_offset));
  };
  fill(plain_prefix(header) + kFirstTry);
  if (header.kind == PageKind::Data && source.column->max_definition > 0 && header.level_encoding == PageEncoding::Rle) {
    const int64_t needed = 4 + levels_length(source, start, page) + static_cast<int64_t>(ValuesHead::kBytes);
    if (needed > static_cast<int64_t>(start.size())) fill(needed);
  }
  return start;
}

std::span<const uint8_t> bytes_of(const RawPage& page) {
  return {page.holder->bytes.const_data_ptr<uint8_t>() + page.body_begin, static_cast<size_t>(page.header.compressed_bytes)};
}

bool is_in_one_piece(const std::vector<RawPage>& raw) {
  return std::all_of(raw.begin(), raw.end(), [&](const RawPage& page) { return page.holder == raw[0].holder; });
}

// Pages that their device decompresses: the bytes as read, if it can fetch them from there, or copied to `staging`.
PageBatch leave_compressed(const PageSource& source, const std::vector<RawPage>& raw, StagingArea& staging) {
  PageBatch batch;
  const bool in_place = source.bytes_are_staged && is_in_one_piece(raw);
  int64_t total = 0;
  const int64_t origin = raw[0].body_begin;
  for (const RawPage& page : raw) {
    const PageHeader& header = page.header;
    const int64_t begin = in_place ? page.body_begin - origin : total;
    const int64_t plain = needs_decompression(source, header) ? plain_prefix(header) : header.compressed_bytes;
    batch.compressed.push_back({begin, begin + header.compressed_bytes, plain, header.uncompressed_bytes});
    total += header.compressed_bytes;
  }
  if (in_place) {
    batch.bytes = raw[0].holder->bytes;
    batch.is_mapped = raw[0].holder->mapped_file != nullptr;
    batch.begin = origin;
    batch.end = origin + batch.compressed.back().end;
    return batch;
  }
  batch.bytes = staging.allocate(total);
  batch.end = total;
  uint8_t* target = batch.bytes.mutable_data_ptr<uint8_t>();
  for (size_t i = 0; i < raw.size(); ++i) std::ranges::copy(bytes_of(raw[i]), target + batch.compressed[i].begin);
  return batch;
}

// The pages in one buffer, `begins` being their decompressed offsets in it. Refers to the bytes as read if nothing has to be done to them.
PageBatch assemble(const PageSource& source, const std::vector<RawPage>& raw, StagingArea* staging, std::vector<int64_t>& begins) {
  int64_t total = 0;
  for (const RawPage& page : raw) {
    check_sizes(source, page);
    begins.push_back(total);
    total += page.header.uncompressed_bytes;
  }
  const bool is_compressed =
      std::any_of(raw.begin(), raw.end(), [&](const RawPage& page) { return needs_decompression(source, page.header); });
  // Even if all pages of this batch happen to be uncompressed: pages of the column's other units may not be, and are decoded with them.
  if (!raw.empty() && staging != nullptr && source.device_decompression && source.decompressor->is_known_to_devices())
    return leave_compressed(source, raw, *staging);
  if (!raw.empty() && !is_compressed && is_in_one_piece(raw) && (staging == nullptr || source.bytes_are_staged)) {
    // For a device, only the pages themselves: the bytes around them need not be uploaded.
    const int64_t origin = staging == nullptr ? 0 : raw[0].body_begin;
    for (size_t i = 0; i < raw.size(); ++i) begins[i] = raw[i].body_begin - origin;
    const int64_t end = raw.back().body_begin + raw.back().header.compressed_bytes;
    return {raw[0].holder->bytes, origin, end, raw[0].holder->mapped_file != nullptr, {}, {}};
  }
  PageBatch batch;
  batch.bytes = staging == nullptr ? at::empty({total}, at::kByte) : staging->allocate(total);
  batch.end = total;
  uint8_t* target = batch.bytes.mutable_data_ptr<uint8_t>();
  for (size_t i = 0; i < raw.size(); ++i) {
    const PageHeader& header = raw[i].header;
    const std::span<const uint8_t> body = bytes_of(raw[i]);
    const size_t prefix = needs_decompression(source, header) ? static_cast<size_t>(plain_prefix(header)) : body.size();
    std::copy_n(body.begin(), prefix, target + begins[i]);
    if (!needs_decompression(source, header)) continue;
    source.decompressor->decompress(body.subspan(prefix),
                                    {target + begins[i] + prefix, static_cast<size_t>(header.uncompressed_bytes) - prefix},
                                    at_page(source, raw[i].file_offset));
  }
  return batch;
}

}  // namespace

HostBytes FileBytes::on_host(int64_t begin, int64_t length) const {
  if (mapped_file == nullptr) return {{}, {bytes.const_data_ptr<uint8_t>() + begin, static_cast<size_t>(length)}};
  HostBytes read{std::vector<uint8_t>(static_cast<size_t>(length)), {}};
  read.bytes = read.copy;
  mapped_file->read(offset + begin, read.copy);  // registered pages stay in the page cache: this waits for no disk
  return read;
}

PageBatch prepare_data_pages(const PageSource& source, std::span<const PagePlace> places, StagingArea* staging) {
  std::vector<RawPage> raw;
  raw.reserve(places.size());
  for (const PagePlace& place : places) {
    RawPage page = locate_page(source, place.bytes);
    if (page.header.kind != PageKind::Data && page.header.kind != PageKind::DataV2)
      throw DataError("expected a data page", at_page(source, page.file_offset));
    if (page.header.values != place.rows) {
      throw DataError(fmt::format("page holds {} rows, its index entry says {}", page.header.values, place.rows),
                      at_page(source, page.file_offset));
    }
    raw.push_back(std::move(page));
  }
  std::vector<int64_t> begins;
  PageBatch batch = assemble(source, raw, staging, begins);
  batch.pages.resize(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    PreparedPage& page = batch.pages[i];
    page.header = raw[i].header;
    page.file_offset = raw[i].file_offset;
    if (batch.compressed.empty() && !batch.is_mapped) {
      const uint8_t* start = batch.bytes.const_data_ptr<uint8_t>() + batch.begin + begins[i];
      find_levels(source, {start, static_cast<size_t>(page.header.uncompressed_bytes)}, begins[i], page);
    } else {
      find_levels(source, decompressed_start(source, raw[i], page), begins[i], page);
    }
  }
  return batch;
}

PageBatch prepare_dictionary_page(const PageSource& source, ByteRange place, StagingArea* staging) {
  RawPage page = locate_page(source, place);
  if (page.header.kind != PageKind::Dictionary) throw DataError("expected a dictionary page", at_page(source, page.file_offset));
  if (page.header.encoding != PageEncoding::Plain && page.header.encoding != PageEncoding::PlainDictionary) {
    throw DataError(fmt::format("dictionary in {}, which is not supported", encoding_name(page.header.encoding)),
                    at_page(source, page.file_offset));
  }
  std::vector<int64_t> begins;
  std::vector<RawPage> alone;
  alone.push_back(std::move(page));
  PageBatch batch = assemble(source, alone, staging, begins);
  PreparedPage prepared;
  prepared.header = alone[0].header;
  prepared.file_offset = alone[0].file_offset;
  prepared.values_begin = begins[0];
  prepared.values_end = begins[0] + alone[0].header.uncompressed_bytes;
  batch.pages.push_back(prepared);
  return batch;
}

}  // namespace pistachio
