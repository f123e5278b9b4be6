// Names of settings, functions and keywords, from the engine's own tables: for SHOW, completion and the reference pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

struct FunctionFacts {
  std::string_view name;
  std::string_view kind;  // operator, function, aggregate or window
  std::string_view signature;
  std::string_view nulls;  // how NULL arguments are treated
  std::string_view description;
};

// Functions by name, then aggregates, then window functions.
std::vector<FunctionFacts> function_facts();

// Functions, aggregates and window functions that are called by name, in alphabetical order, each once.
std::vector<std::string> function_names();

// What SHOW lists besides single settings.
std::span<const std::string_view> shown_lists();

}  // namespace pistachio
