#include "results/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "results/output_path.h"

namespace pistachio {

namespace {

constexpr mode_t kFileMode = 0666;  // the user's mask takes bits away
constexpr size_t kBytesPerWrite = 1 << 20;
constexpr int kMillisecondsPerWait = 20;

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(resolved_output_path(path)), folder_(folder_of_path(path_)) {
  struct stat facts {};
  const bool exists = ::stat(path_.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) throw UserError(fmt::format("cannot write {}: it is a folder", path_));
  if (exists && !S_ISREG(facts.st_mode)) {
    is_direct_ = true;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 && errno == ENXIO) throw UserError(fmt::format("cannot write {}: nothing reads it", path_));
    if (descriptor_ < 0) fail("open");
    return;
  }
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("replace");
  open_unnamed();
  if (descriptor_ < 0) open_hidden();
  // Who may read the old file may read the new one.
  if (exists && (::fchmod(descriptor_, facts.st_mode & 07777) != 0 || ::fchown(descriptor_, facts.st_uid, facts.st_gid) != 0) &&
      facts.st_uid == ::geteuid())
    fail("replace");
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
  hidden_ = hidden_path_beside(path_);
  descriptor_ = ::open(hidden_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  if (descriptor_ >= 0) return;
  hidden_.clear();
  fail("create");
}

void OutputFile::fail(std::string_view what) const {
  fail_on_path(what, path_);
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    token_.throw_if_cancelled();
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kBytesPerWrite));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      wait_for_reader();
    } else if (errno != EINTR) {
      fail("write");
    }
  }
}

// In short steps: the token may be cancelled meanwhile.
void OutputFile::wait_for_reader() const {
  pollfd waiting{descriptor_, POLLOUT, 0};
  ::poll(&waiting, 1, kMillisecondsPerWait);
}

void OutputFile::publish() {
  if (!is_direct_) {
    if (::fsync(descriptor_) != 0) fail("write");
    if (is_unnamed_) {
      const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
      hidden_ = hidden_path_beside(path_);
      if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, hidden_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        hidden_.clear();
        fail("name");
      }
    }
    if (::rename(hidden_.c_str(), path_.c_str()) != 0) fail("replace");
    hidden_.clear();
    sync_folder(folder_);
  }
  // Some file systems report only here that a disk is full.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
}

}  // namespace pistachio
