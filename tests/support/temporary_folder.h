// A folder for one test, deleted with its contents by the destructor. POSIX calls, not std::filesystem: CUDA builds of libtorch export
// functions of that name that crash when others call them.
#pragma once

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace pistachio::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* root = std::getenv("TMPDIR");
    path_ = std::string(root != nullptr ? root : "/tmp") + "/pistachio_test_XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + path_);
  }
  ~TemporaryFolder() {
    auto remove_entry = [](const char* path, const struct stat*, int, struct FTW*) { return std::remove(path); };
    ::nftw(path_.c_str(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Creates a folder below this one, including its parents.
  void make_folder(const std::string& name) const {
    for (size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      ::mkdir(file(name.substr(0, slash)).c_str(), 0700);
    ::mkdir(file(name).c_str(), 0700);
  }

 private:
  std::string path_;
};

}  // namespace pistachio::test
