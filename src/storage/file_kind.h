// What a file is by its first bytes, for errors about files that are not what their name says. Pure functions, except where noted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pistachio {

// "a Parquet file", "gzip data", "text", "an empty file" ...; empty if it is nothing known. `head`: at most a few hundred bytes.
std::string_view kind_of_bytes(std::span<const uint8_t> head);

// Whether it may be the beginning of text in UTF-8: the word ORCID begins as ORC files do, but these have other bytes behind it.
bool may_be_text(std::span<const uint8_t> head);

// Whether a local file begins as Parquet files do, whatever its name is. Reads it; false if that fails.
bool begins_like_parquet(const std::string& path);

}  // namespace pistachio
