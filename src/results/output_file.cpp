#include "results/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "base/error.h"

namespace pistachio {

namespace {

constexpr mode_t kFileMode = 0666;  // the user's mask takes bits away
constexpr size_t kBytesPerWrite = 1 << 20;

// A link is followed: the file that it names is replaced, not the link.
std::string resolved(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> found(::realpath(path.c_str(), nullptr), std::free);
  return found ? std::string(found.get()) : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(resolved(path)), folder_(folder_of(path_)) {
  struct stat facts {};
  if (::stat(path_.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    if (S_ISDIR(facts.st_mode)) throw UserError(fmt::format("cannot write {}: it is a folder", path_));
    is_direct_ = true;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("open");
    return;
  }
  open_unnamed();
  if (descriptor_ < 0) open_hidden();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!hidden_.empty()) ::unlink(hidden_.c_str());
}

// The kernel frees a file without a name when the process ends, however it ends. Not all file systems have them.
void OutputFile::open_unnamed() {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kFileMode);
  is_unnamed_ = descriptor_ >= 0;
}

void OutputFile::open_hidden() {
  give_hidden_name();
  descriptor_ = ::open(hidden_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  if (descriptor_ >= 0) return;
  hidden_.clear();
  fail("create");
}

void OutputFile::give_hidden_name() {
  hidden_ = fmt::format("{}/.{}.{:08x}.part", folder_, name_of(path_).substr(0, 200), std::random_device()());
}

void OutputFile::fail(std::string_view what) const {
  const int problem = errno;
  throw UserError(fmt::format("cannot {} {}: {}", what, path_, std::strerror(problem)));
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    token_.throw_if_cancelled();
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kBytesPerWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void OutputFile::publish() {
  if (!is_direct_) {
    if (::fsync(descriptor_) != 0) fail("write");
    if (is_unnamed_) {
      const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
      give_hidden_name();
      if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, hidden_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        hidden_.clear();
        fail("name");
      }
    }
    if (::rename(hidden_.c_str(), path_.c_str()) != 0) fail("replace");
    hidden_.clear();
    sync_folder();
  }
  // Some file systems report only here that a disk is full.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
}

// So that the name survives a crash of the machine. The data is on disk in any case, so a folder that cannot be synced is no error.
void OutputFile::sync_folder() const {
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace pistachio
