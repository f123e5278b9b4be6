// The header of a Parquet page, parsed from Thrift and checked in isolation. PageWalk checks it against the column chunk (does the page
// fit, do the row counts add up).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"

namespace pistachio {

class MalformedThrift;

enum class PageKind : uint8_t { Data, DataV2, Dictionary, Other };

// Numbers of the Parquet format.
enum class PageEncoding : int32_t {
  Plain = 0,
  PlainDictionary = 2,
  Rle = 3,
  BitPacked = 4,
  DeltaBinaryPacked = 5,
  DeltaLengthByteArray = 6,
  DeltaByteArray = 7,
  RleDictionary = 8,
  ByteStreamSplit = 9,
};

struct PageHeader {
  PageKind kind = PageKind::Other;
  int32_t header_bytes = 0;      // of the header itself
  int32_t compressed_bytes = 0;  // of the page after the header
  int32_t uncompressed_bytes = 0;
  std::optional<uint32_t> checksum;
  int32_t values = 0;  // rows of a flat column, NULLs included
  PageEncoding encoding = PageEncoding::Plain;
  PageEncoding level_encoding = PageEncoding::Rle;
  // Data pages of version 2:
  int32_t nulls = 0;
  int32_t definition_bytes = 0;
  int32_t repetition_bytes = 0;
  bool is_compressed = true;

  bool uses_dictionary() const { return encoding == PageEncoding::RleDictionary || encoding == PageEncoding::PlainDictionary; }
};

// Parses the header at the front of `bytes`. Throws MalformedThrift.
PageHeader parse_page_header(std::span<const uint8_t> bytes);

// The error for a page whose header cannot be parsed.
DataError damaged_page_header(const MalformedThrift& problem, const DataLocation& where);

}  // namespace pistachio
