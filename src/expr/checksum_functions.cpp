// Checksums and encodings of text and bytes: sha1, sha256, crc32, base64, hex, binary and URL encoding. Checksums are for comparison with
// other systems, not for security.
#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/function_families.h"
#include "expr/polled_text.h"
#include "expr/text_builder.h"

namespace pistachio {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// Merkle-Damgard padding, as SHA-1 and SHA-256 have it: calls block(bytes) for each 64 bytes.
template <typename Block>
void for_each_sha_block(std::string_view text, const Block& block) {
  size_t at = 0;
  for (; at + 64 <= text.size(); at += 64) block(text.substr(at, 64));
  std::string tail(text.substr(at));
  tail += '\x80';
  while (tail.size() % 64 != 56) tail += '\0';
  const uint64_t bits = static_cast<uint64_t>(text.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift);
  for (size_t i = 0; i < tail.size(); i += 64) block(std::string_view(tail).substr(i, 64));
}

uint32_t big_endian_word(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<uint8_t>(bytes[at + i]);
  return word;
}

std::array<uint32_t, 5> sha1_of(std::string_view text) {
  std::array<uint32_t, 5> state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for_each_sha_block(text, [&](std::string_view block) {
    std::array<uint32_t, 80> words{};
    for (size_t i = 0; i < 16; ++i) words[i] = big_endian_word(block, 4 * i);
    for (size_t i = 16; i < 80; ++i) words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    auto [a, b, c, d, e] = state;
    for (size_t i = 0; i < 80; ++i) {
      const uint32_t mixed = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
      const uint32_t constant = i < 20 ? 0x5A827999 : i < 40 ? 0x6ED9EBA1 : i < 60 ? 0x8F1BBCDC : 0xCA62C1D6;
      const uint32_t next = std::rotl(a, 5) + mixed + e + constant + words[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    const std::array<uint32_t, 5> added = {a, b, c, d, e};
    for (size_t i = 0; i < 5; ++i) state[i] += added[i];
  });
  return state;
}

constexpr std::array<uint32_t, 64> kSha256Constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::array<uint32_t, 8> sha256_of(std::string_view text) {
  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for_each_sha_block(text, [&](std::string_view block) {
    std::array<uint32_t, 64> words{};
    for (size_t i = 0; i < 16; ++i) words[i] = big_endian_word(block, 4 * i);
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t early = std::rotr(words[i - 15], 7) ^ std::rotr(words[i - 15], 18) ^ (words[i - 15] >> 3);
      const uint32_t late = std::rotr(words[i - 2], 17) ^ std::rotr(words[i - 2], 19) ^ (words[i - 2] >> 10);
      words[i] = words[i - 16] + early + words[i - 7] + late;
    }
    std::array<uint32_t, 8> s = state;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t high = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const uint32_t first = s[7] + high + ((s[4] & s[5]) ^ (~s[4] & s[6])) + kSha256Constants[i] + words[i];
      const uint32_t low = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
      const uint32_t second = low + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      s = {first + second, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (size_t i = 0; i < 8; ++i) state[i] += s[i];
  });
  return state;
}

template <typename Digest>
Column digest_rows(const FunctionCall& call, const Digest& digest) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto&) {
    for (uint32_t word : digest(text[row])) {
      for (int shift = 28; shift >= 0; shift -= 4) builder.append(kHexDigits[(word >> shift) & 15]);
    }
  };
  return build_polled_text(call, call.rows * 64, append, text);
}

Column sha1_of_text(const FunctionCall& call) {
  return digest_rows(call, sha1_of);
}

Column sha256_of_text(const FunctionCall& call) {
  return digest_rows(call, sha256_of);
}

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? 0xEDB88320U ^ (rest >> 1) : rest >> 1;
    table[i] = rest;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = make_crc_table();

Column crc32_of_text(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto checksum = [&](int64_t row, auto&) -> int64_t {
    uint32_t crc = 0xFFFFFFFF;
    for (const char c : text[row]) crc = kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 255] ^ (crc >> 8);
    return static_cast<int64_t>(crc ^ 0xFFFFFFFF);
  };
  return fill_text_rows<int64_t>(call, checksum, text);
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Column encode_base64(const FunctionCall& call) {
  ArgumentText bytes(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto&) {
    const std::string_view value = bytes[row];
    for (size_t i = 0; i < value.size(); i += 3) {
      uint32_t group = 0;
      for (size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < value.size() ? static_cast<uint8_t>(value[i + j]) : 0U);
      for (size_t j = 0; j < 4; ++j) builder.append(i + j <= value.size() ? kBase64[(group >> (18 - 6 * j)) & 63] : '=');
    }
  };
  return build_polled_text(call, bytes.total_bytes(call.arguments[0].is_constant ? 1 : call.rows) * 4 / 3, append, bytes);
}

Column decode_base64(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto&) {
    const std::string_view value = text[row];
    if (value.size() % 4 != 0) throw UserError("base64 text has a length that is a multiple of 4");
    for (size_t i = 0; i < value.size(); i += 4) {
      uint32_t group = 0;
      size_t padding = 0;
      for (size_t j = 0; j < 4; ++j) {
        const bool is_padding = value[i + j] == '=' && i + 4 == value.size() && j >= 2;
        const size_t digit = is_padding ? 0 : kBase64.find(value[i + j]);
        if (digit == std::string_view::npos || (!is_padding && padding > 0)) throw UserError("the text is not valid base64");
        padding += is_padding ? 1 : 0;
        group = group << 6 | static_cast<uint32_t>(digit);
      }
      for (size_t j = 0; j + padding < 3; ++j) builder.append(static_cast<char>(group >> (16 - 8 * j)));
    }
  };
  return build_polled_text(call, text.total_bytes(call.arguments[0].is_constant ? 1 : call.rows), append, text);
}

Column encode_hexadecimal(const FunctionCall& call) {
  ArgumentText bytes(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto&) {
    for (const char c : bytes[row]) {
      builder.append("0123456789ABCDEF"[static_cast<uint8_t>(c) >> 4]);
      builder.append("0123456789ABCDEF"[static_cast<uint8_t>(c) & 15]);
    }
  };
  return build_polled_text(call, bytes.total_bytes(call.arguments[0].is_constant ? 1 : call.rows) * 2, append, bytes);
}

uint32_t hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  const char folded = static_cast<char>(c | 0x20);
  if (folded >= 'a' && folded <= 'f') return static_cast<uint32_t>(folded - 'a' + 10);
  throw UserError("the text has characters that are not hexadecimal digits");
}

Column decode_hexadecimal(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto&) {
    const std::string_view value = text[row];
    size_t i = value.size() % 2;
    if (i == 1) builder.append(static_cast<char>(hexadecimal_digit(value[0])));
    for (; i < value.size(); i += 2) builder.append(static_cast<char>(hexadecimal_digit(value[i]) << 4 | hexadecimal_digit(value[i + 1])));
  };
  return build_polled_text(call, text.total_bytes(call.arguments[0].is_constant ? 1 : call.rows) / 2, append, text);
}

Column encode_binary(const FunctionCall& call) {
  ArgumentValues<int64_t> values(call.arguments[0]);
  return build_text(call, call.rows * 8, [&](int64_t row, TextBuilder& builder) {
    const auto value = static_cast<uint64_t>(values[row]);
    for (int bit = std::max(static_cast<int>(std::bit_width(value)), 1) - 1; bit >= 0; --bit)
      builder.append((value >> bit & 1) != 0 ? '1' : '0');
  });
}

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
}

Column encode_url(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto&) {
    for (const char c : text[row]) {
      if (is_unreserved(c)) {
        builder.append(c);
        continue;
      }
      builder.append('%');
      builder.append("0123456789ABCDEF"[static_cast<uint8_t>(c) >> 4]);
      builder.append("0123456789ABCDEF"[static_cast<uint8_t>(c) & 15]);
    }
  };
  return build_polled_text(call, text.total_bytes(call.arguments[0].is_constant ? 1 : call.rows), append, text);
}

constexpr TypeKind kBytes = TypeKind::Blob;

template <TypeKind result>
std::optional<FunctionTypes> resolve_bytes(Types types, Literals literals) {
  if (types.size() == 1 && !literals[0] && types[0].kind() == kBytes) return FunctionTypes{{kBytes}, result};
  return resolve_as<result, kText>(types, literals);
}

// A BLOB with the bytes of a text.
Column bytes_of_text(const FunctionCall& call) {
  const Column text = call.arguments[0].expanded(call.rows);
  return Column::text(call.result, text.bytes(), text.begins(), text.ends());
}

const std::array kChecksumFunctions = {
    Function{.name = "sha1",
             .resolve = resolve_bytes<kText>,
             .evaluate = sha1_of_text,
             .signature = "sha1(text VARCHAR | BLOB) -> VARCHAR",
             .description = "SHA-1 checksum in hexadecimal"},
    Function{.name = "sha256",
             .resolve = resolve_bytes<kText>,
             .evaluate = sha256_of_text,
             .signature = "sha256(text VARCHAR | BLOB) -> VARCHAR",
             .description = "SHA-256 checksum in hexadecimal"},
    Function{.name = "crc32",
             .resolve = resolve_bytes<kWhole>,
             .evaluate = crc32_of_text,
             .signature = "crc32(text VARCHAR | BLOB) -> BIGINT",
             .description = "CRC-32 checksum"},
    Function{.name = "base64",
             .resolve = resolve_bytes<kText>,
             .evaluate = encode_base64,
             .signature = "base64(bytes BLOB | VARCHAR) -> VARCHAR",
             .description = "The bytes in base64"},
    Function{.name = "from_base64",
             .resolve = resolve_as<kBytes, kText>,
             .evaluate = decode_base64,
             .can_raise = true,
             .signature = "from_base64(text VARCHAR) -> BLOB",
             .description = "The bytes behind base64"},
    Function{.name = "hex",
             .resolve = resolve_bytes<kText>,
             .evaluate = encode_hexadecimal,
             .signature = "hex(bytes BLOB | VARCHAR) -> VARCHAR",
             .description = "The bytes in upper-case hexadecimal; numbers: to_hex"},
    Function{.name = "unhex",
             .resolve = resolve_as<kBytes, kText>,
             .evaluate = decode_hexadecimal,
             .can_raise = true,
             .signature = "unhex(text VARCHAR) -> BLOB",
             .description = "The bytes behind hexadecimal digits"},
    Function{.name = "to_binary",
             .resolve = resolve_as<kText, kWhole>,
             .evaluate = encode_binary,
             .signature = "to_binary(number BIGINT) -> VARCHAR",
             .description = "In binary digits; negative numbers as two's complement"},
    Function{.name = "url_encode",
             .resolve = resolve_as<kText, kText>,
             .evaluate = encode_url,
             .signature = "url_encode(text VARCHAR) -> VARCHAR",
             .description = "With %XX for all bytes but letters, digits and -_.~"},
    Function{.name = "encode",
             .resolve = resolve_as<kBytes, kText>,
             .evaluate = bytes_of_text,
             .signature = "encode(text VARCHAR) -> BLOB",
             .description = "The bytes of the text in UTF-8"},
};

}  // namespace

std::span<const Function> checksum_functions() {
  return kChecksumFunctions;
}

}  // namespace pistachio
