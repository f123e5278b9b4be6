// Keywords that the parser accepts, in upper case and alphabetical order, for completion. Whether a word is a keyword in its context is
// decided by PostgreSQL's grammar.
#pragma once

#include <span>
#include <string_view>

namespace pistachio {

std::span<const std::string_view> sql_keywords();

}  // namespace pistachio
