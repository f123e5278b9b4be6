#include "spill/spill_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/format_bytes.h"
#include "base/run_blocking.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Offsets are multiples of the block size of file systems, so that released blocks can be given back.
constexpr int64_t kBlockSize = 4096;

int64_t rounded(int64_t bytes) {
  return (bytes + kBlockSize - 1) / kBlockSize * kBlockSize;
}

[[noreturn]] void fail(const std::string& what, const std::string& folder) {
  const std::string problem = std::strerror(errno);
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  throw UserError(fmt::format("cannot {} in temp_directory {}: {}; {}set temp_directory to {} folder, or raise memory_limit", what, folder,
                              problem, is_full ? "free space there, " : "", is_full ? "another" : "an existing, writable"));
}

int open_unnamed(const std::string& folder) {
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || errno == ENOENT || errno == EACCES || errno == ENOTDIR || errno == EROFS) return file;
  // Some file systems do not support O_TMPFILE. A file that is unlinked at once lives for as long as it is open.
  std::string name = folder + "/pistachio-spill-XXXXXX";
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

}  // namespace

SpillFile::SpillFile(SpillSpace& space, SpillLimits limits, std::optional<MemoryAccount> memory)
    : space_(space), limits_(std::move(limits)), memory_(std::move(memory)) {
  if (!memory_) open();
}

SpillFile::~SpillFile() {
  if (file_ >= 0) ::close(file_);
  space_.give_back(held_);
}

void SpillFile::open() {
  std::lock_guard lock(mutex_);
  if (file_ >= 0) return;
  file_ = open_unnamed(limits_.folder);
  if (file_ < 0) fail("create a file for rows that do not fit into memory", limits_.folder);
}

std::optional<SpillPlace> SpillFile::keep(const at::Tensor& block) {
  if (!memory_) return std::nullopt;
  std::optional<Reservation> made = memory_->try_reserve_now(block.numel(), ReservationKind::Held);
  if (!made) return std::nullopt;
  std::lock_guard lock(mutex_);
  const int64_t number = kept_count_++;
  kept_.emplace(number, Kept{block, std::move(*made)});
  return SpillPlace{number, block.numel(), /*is_in_memory=*/true};
}

Task<std::vector<SpillPlace>> SpillFile::write(std::vector<at::Tensor> blocks) {
  std::vector<SpillPlace> places;
  int64_t bytes = 0;  // for the file
  for (const at::Tensor& block : blocks) {
    if (const std::optional<SpillPlace> kept = keep(block)) {
      places.push_back(*kept);
      continue;
    }
    places.push_back({bytes, block.numel()});
    bytes += rounded(block.numel());
  }
  if (bytes == 0) co_return places;
  open();
  space_.take(bytes, limits_);
  held_ += bytes;
  const int64_t begin = end_.fetch_add(bytes);
  for (SpillPlace& place : places) {
    if (!place.is_in_memory) place.offset += begin;
  }
  auto writing = [&] {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!places[i].is_in_memory) write_now(blocks[i], places[i].offset);
    }
  };
  co_await run_blocking(writing);
  co_return places;
}

Task<at::Tensor> SpillFile::read(SpillPlace place) {
  if (place.is_in_memory) {
    std::lock_guard lock(mutex_);
    co_return kept_.at(place.offset).block;
  }
  at::Tensor block = at::empty({place.bytes}, at::kByte);
  auto reading = [&] { read_now(block, place.offset); };
  co_await run_blocking(reading);
  co_return block;
}

void SpillFile::release(SpillPlace place) noexcept {
  if (place.is_in_memory) {
    std::lock_guard lock(mutex_);
    kept_.erase(place.offset);
    return;
  }
  const int64_t taken = rounded(place.bytes);
  // If the file system cannot punch holes, the space is freed when the file is closed.
  if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place.offset, taken) != 0) return;
  held_ -= taken;
  space_.give_back(taken);
}

void SpillFile::write_now(const at::Tensor& block, int64_t offset) {
  const char* from = static_cast<const char*>(block.const_data_ptr());
  for (int64_t done = 0; done < block.numel();) {
    const ssize_t count = ::pwrite(file_, from + done, static_cast<size_t>(block.numel() - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(fmt::format("write {} of rows that do not fit into memory", format_bytes(block.numel())), limits_.folder);
    done += count;
  }
}

void SpillFile::read_now(const at::Tensor& block, int64_t offset) {
  char* to = static_cast<char*>(block.mutable_data_ptr());
  for (int64_t done = 0; done < block.numel();) {
    const ssize_t count = ::pread(file_, to + done, static_cast<size_t>(block.numel() - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;  // another process truncated the file
    if (count <= 0) fail(fmt::format("read back {} of rows", format_bytes(block.numel())), limits_.folder);
    done += count;
  }
}

}  // namespace pistachio
