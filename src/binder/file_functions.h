// read_csv, read_json and the other functions of FROM that read files: their paths and options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "parser/ast.h"
#include "readers/read_options.h"

namespace pistachio {

struct FileFunction {
  std::vector<std::string> paths;
  ReadOptions options;
};

// Nullopt if no such function reads files. Throws UserError with a position.
std::optional<FileFunction> bind_file_function(const ast::TableFunction& node, int64_t position, const CancelToken& token);

// For errors and documentation.
std::string_view file_function_names();

}  // namespace pistachio
