// Names that a person may want to be reminded of, from the tables that the engine itself works with.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// Functions and aggregates that are called by name, in alphabetical order, each once.
std::vector<std::string> function_names();

// What SHOW lists besides single settings.
std::span<const std::string_view> shown_lists();

}  // namespace pistachio
