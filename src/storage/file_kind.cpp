#include "storage/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pistachio {

namespace {

struct KnownBeginning {
  std::string_view bytes;
  std::string_view kind;
};

constexpr KnownBeginning kBeginnings[] = {
    {"PAR1", "a Parquet file"},
    {"PARE", "an encrypted Parquet file"},
    {"ARROW1", "an Arrow file"},
    {"\xFF\xFF\xFF\xFF", "an Arrow stream"},
    {"\x1F\x8B", "gzip data"},
    {"\x28\xB5\x2F\xFD", "zstd data"},
    {"BZh", "bzip2 data"},
    {"\xFD"
     "7zXZ",
     "xz data"},
    {"PK\x03\x04", "a ZIP archive (or a spreadsheet)"},
    {"ORC", "an ORC file"},
    {"Obj\x01", "an Avro file"},
    {{"SQLite format 3\0", 16}, "an SQLite database"},
    {"%PDF-1.", "a PDF file"},
    {"\x89PNG", "an image"},
    {"\xFF\xD8\xFF", "an image"},
    {"GIF8", "an image"},
    {"\xFF\xFE", "UTF-16 text"},
    {"\xFE\xFF", "UTF-16 text"},
};

std::string_view text_of_head(std::span<const uint8_t> head) {
  return {reinterpret_cast<const char*>(head.data()), head.size()};
}

bool has_text_bytes_only(std::span<const uint8_t> head) {
  return std::all_of(head.begin(), head.end(), [](uint8_t byte) { return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t'; });
}

const KnownBeginning* known_beginning(std::string_view text) {
  for (const KnownBeginning& known : kBeginnings) {
    if (text.starts_with(known.bytes)) return &known;
  }
  return nullptr;
}

bool is_word(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte < 0x80 && std::isalnum(byte) != 0; });
}

}  // namespace

bool may_be_text(std::span<const uint8_t> head) {
  const KnownBeginning* known = known_beginning(text_of_head(head));
  return known == nullptr || (is_word(known->bytes) && has_text_bytes_only(head));
}

std::string_view kind_of_bytes(std::span<const uint8_t> head) {
  if (head.empty()) return "an empty file";
  const std::string_view text = text_of_head(head);
  if (const KnownBeginning* known = known_beginning(text)) return known->kind;
  if (!has_text_bytes_only(head)) return "";
  const char first = text[std::min(text.find_first_not_of(" \t\r\n"), text.size() - 1)];
  const std::string_view line = text.substr(0, text.find('\n'));
  if (first == '{' || first == '[') return "JSON text";
  if (first == '<') return "XML or HTML text";
  return line.find_first_of(",;|\t") != std::string_view::npos ? "CSV text" : "text";
}

bool begins_like_parquet(const std::string& path) {
  std::array<char, 4> first{};
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  return file && std::fread(first.data(), 1, first.size(), file.get()) == first.size() &&
         std::memcmp(first.data(), "PAR1", first.size()) == 0;
}

}  // namespace pistachio
