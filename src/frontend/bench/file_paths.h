// Path functions for benchmarks. POSIX calls, not std::filesystem: CUDA builds of libtorch export functions of that name that crash when
// others call them.
#pragma once

#include <string>

namespace pistachio {

bool is_folder(const std::string& path);
// Creates the folder and its parents. Throws UserError.
void make_folders(const std::string& path);
// Absolute, because other processes may have another working directory.
std::string absolute_path(const std::string& path);
// The last component of a path, ignoring trailing slashes.
std::string last_name(const std::string& path);
// The file name without its extension: `q03` of `queries/q03.sql`.
std::string name_without_ending(const std::string& path);
std::string folder_above(const std::string& path);
// The path as an SQL string literal.
std::string quoted_path(const std::string& path);

}  // namespace pistachio
