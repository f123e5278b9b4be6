// Searches local folders for files: all of them, or those that match a pattern. Follows links to folders, each folder once per list of
// partition values. May wait for disks: call it on a blocking thread. Throws UserError if a folder cannot be listed, and Cancelled.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_token.h"

namespace pistachio {

// All regular files below a folder, except hidden ones.
std::vector<std::string> files_below(const std::string& folder, const CancelToken& token);
// The regular files below a folder (empty: the current one) that match a pattern, given by its components. Not sorted, may repeat.
std::vector<std::string> files_matching(const std::string& folder, std::span<const std::string> pattern, const CancelToken& token);

bool has_wildcard(std::string_view text);
// Files that writers leave next to data (_SUCCESS, .crc) are not data.
bool is_hidden(std::string_view name);
// Wildcards do not match hidden names, unless the pattern starts with the same character (`_old*.parquet`).
bool is_left_out(std::string_view pattern, std::string_view name);

}  // namespace pistachio
