// The keywords of what the parser accepts, in upper case and alphabetical order: for those who help people write SQL. What is a keyword
// where is PostgreSQL's grammar's affair.
#pragma once

#include <span>
#include <string_view>

namespace pistachio {

std::span<const std::string_view> sql_keywords();

}  // namespace pistachio
