// Paths that statements write to. Errors are UserErrors with the path and errno's reason.
#pragma once

#include <string>
#include <string_view>

namespace pistachio {

// Without links: what a link names is replaced, not the link. The file need not exist, but a link must lead somewhere.
std::string resolved_output_path(const std::string& path);

std::string folder_of_path(const std::string& path);

// For an incomplete file or folder: hidden, in the same folder, with another name each time.
std::string hidden_path_beside(const std::string& path);

// Throws "cannot WHAT PATH: reason", by errno.
[[noreturn]] void fail_on_path(std::string_view what, const std::string& path);

// So that names in the folder survive a crash of the machine. Their files are on disk in any case, so failing is no error.
void sync_folder(const std::string& folder);

// With all that is in it. Errors are ignored.
void remove_folder(const std::string& folder);

}  // namespace pistachio
