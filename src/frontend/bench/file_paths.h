// The few things that benchmarks do with paths. POSIX calls, not std::filesystem: CUDA builds of libtorch export functions of that name
// that crash when others call them.
#pragma once

#include <string>

namespace pistachio {

bool is_folder(const std::string& path);
// Makes the folder and those above it. Throws UserError.
void make_folders(const std::string& path);
// From the root on; other processes may have another working folder.
std::string absolute_path(const std::string& path);
// The last name of a path, slashes at its end left out.
std::string last_name(const std::string& path);
// Without its ending: `q03` of `queries/q03.sql`.
std::string name_without_ending(const std::string& path);
std::string folder_above(const std::string& path);

}  // namespace pistachio
