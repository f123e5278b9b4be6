#include "storage/mapped_files.h"

#include <algorithm>
#include <optional>

#include "base/run_blocking.h"
#include "kernels/ops/host_memory.h"
#include "kernels/ops/tensor_functions.h"
#include "memory/reservation.h"
#include "storage/file_mapping.h"

namespace pistachio {

namespace {

// A thread registers about four times as many bytes as it copies in the same time: a block is registered when a quarter of its bytes have
// been read.
constexpr int64_t kRegisteredPerCopied = 4;

// Beyond this number of files, the statistics of unmapped files (such as bytes read) are dropped.
constexpr size_t kMaxFiles = 65536;

int64_t bytes_of_block(int64_t file_bytes, int64_t block) {
  return std::min(MappedFiles::kBlockBytes, file_bytes - block * MappedFiles::kBlockBytes);
}

template <typename Visit>
void for_each_block(const std::vector<ByteRange>& ranges, Visit visit) {
  for (const ByteRange& range : ranges) {
    for (int64_t begin = range.offset; begin < range.end();) {
      const int64_t block = begin / MappedFiles::kBlockBytes;
      const int64_t end = std::min(range.end(), (block + 1) * MappedFiles::kBlockBytes);
      visit(block, end - begin);
      begin = end;
    }
  }
}

}  // namespace

class MappedFiles::RegisteredBlock {
 public:
  // `address` is registered already.
  RegisteredBlock(std::shared_ptr<const FileMapping> mapping, void* address, at::Device device, Reservation memory)
      : mapping_(std::move(mapping)), address_(address), device_(device), memory_(std::move(memory)) {}
  ~RegisteredBlock() { kernels::unregister_host_memory(device_, address_); }
  RegisteredBlock(const RegisteredBlock&) = delete;
  RegisteredBlock& operator=(const RegisteredBlock&) = delete;

  int64_t bytes() const { return memory_.bytes(); }

 private:
  const std::shared_ptr<const FileMapping> mapping_;
  void* const address_;
  const at::Device device_;
  const Reservation memory_;
};

std::shared_ptr<const MappedFiles::RegisteredBlock> MappedFiles::register_block(const std::shared_ptr<const FileMapping>& mapping, int64_t block,
                                                                                When when) {
  const int64_t offset = block * kBlockBytes;
  const int64_t bytes = bytes_of_block(mapping->bytes(), block);
  if (when == When::Cached && !mapping->is_cached(offset, bytes)) return nullptr;
  std::optional<Reservation> memory = memory_.try_reserve(bytes, ReservationKind::Held);
  if (!memory) {
    release(bytes);
    memory = memory_.try_reserve(bytes, ReservationKind::Held);
  }
  if (!memory) return nullptr;
  void* address = static_cast<uint8_t*>(mapping->address()) + offset;
  if (!kernels::register_host_memory(device_, address, bytes)) return nullptr;
  return std::make_shared<const RegisteredBlock>(mapping, address, device_, std::move(*memory));
}

// Removes the file from the cache. The caller destroys the result outside the lock.
MappedFiles::Blocks MappedFiles::drop(Files::iterator file) {
  Blocks dropped;
  if (file->second.mapping != nullptr) --mappings_;
  for (auto& [number, block] : file->second.blocks) {
    if (block.state != Block::State::Registered) continue;
    uses_.erase(block.use);
    dropped.push_back(std::move(block.registered));
  }
  files_.erase(file);
  return dropped;
}

// The entry of the file's current version. The caller destroys `outdated` outside the lock.
MappedFiles::Files::iterator MappedFiles::find_entry(const DataFile& file, Blocks& outdated) {
  auto known = files_.find(file.path());
  if (known != files_.end() && known->second.identity == file.identity()) return known;
  if (known != files_.end()) outdated = drop(known);
  if (files_.size() >= kMaxFiles) std::erase_if(files_, [](const auto& entry) { return entry.second.mapping == nullptr; });
  return files_.emplace(file.path(), MappedFile{file.identity(), nullptr, {}}).first;
}

bool MappedFiles::map(MappedFile& entry, DataFile& file) {
  if (entry.mapping == nullptr && mappings_ < kMaxMappings) {
    entry.mapping = file.map();
    if (entry.mapping != nullptr) ++mappings_;
  }
  return entry.mapping != nullptr;
}

// The blocks that the caller is to register now; they are marked as such.
std::vector<int64_t> MappedFiles::choose_blocks(MappedFile& file, const std::vector<ByteRange>& ranges, When when) {
  std::vector<int64_t> chosen;
  for_each_block(ranges, [&](int64_t number, int64_t bytes) {
    Block& block = file.blocks[number];
    if (block.state != Block::State::Unregistered) return;
    if (when == When::Cached && block.bytes_read < bytes_of_block(file.identity.size, number) / kRegisteredPerCopied) {
      block.bytes_read += bytes;
      return;
    }
    block.state = Block::State::Registering;
    chosen.push_back(number);
  });
  return chosen;
}

// Undefined unless all blocks of the ranges are registered.
at::Tensor MappedFiles::tensor_over(MappedFile& file, const std::vector<ByteRange>& ranges) {
  Blocks blocks;
  bool complete = true;
  for_each_block(ranges, [&](int64_t number, int64_t) {
    Block& block = file.blocks[number];
    if (block.state != Block::State::Registered) {
      complete = false;
      return;
    }
    uses_.splice(uses_.begin(), uses_, block.use);
    blocks.push_back(block.registered);
  });
  if (!complete || blocks.empty()) return {};
  return at::from_blob(file.mapping->address(), {file.mapping->bytes()}, [kept = std::move(blocks)](void*) {}, at::kByte);
}

Task<at::Tensor> MappedFiles::find(std::shared_ptr<DataFile> file, std::vector<ByteRange> ranges, When when) {
  std::vector<int64_t> chosen;
  std::shared_ptr<const FileMapping> mapping;
  Blocks outdated;
  {
    std::lock_guard lock(mutex_);
    MappedFile& entry = find_entry(*file, outdated)->second;
    chosen = choose_blocks(entry, ranges, when);
    if (chosen.empty()) co_return tensor_over(entry, ranges);
    if (!map(entry, *file)) {
      for (int64_t number : chosen) entry.blocks[number] = {};
      co_return at::Tensor();
    }
    mapping = entry.mapping;
  }
  Blocks made;
  auto register_all = [&] {
    outdated.clear();
    for (int64_t number : chosen) made.push_back(register_block(mapping, number, when));
  };
  std::exception_ptr problem;
  try {
    co_await run_blocking(register_all);
  } catch (...) {
    problem = std::current_exception();  // cancelled: the blocks must not stay marked
    made.resize(chosen.size());
  }
  std::lock_guard lock(mutex_);
  auto known = files_.find(file->path());
  if (known != files_.end() && known->second.mapping == mapping) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      Block& block = known->second.blocks[chosen[i]];
      block.bytes_read = 0;
      block.state = made[i] != nullptr ? Block::State::Registered : Block::State::Unregistered;
      if (made[i] == nullptr) continue;
      uses_.push_front({file->path(), chosen[i]});
      block.use = uses_.begin();
      block.registered = std::move(made[i]);
    }
    unmap_if_unused(known);
    if (problem == nullptr) co_return tensor_over(known->second, ranges);
  }
  if (problem != nullptr) std::rethrow_exception(problem);
  co_return at::Tensor();
}

void MappedFiles::release(int64_t bytes) {
  Blocks dropped;
  std::lock_guard lock(mutex_);
  int64_t freed = 0;
  for (auto use = uses_.end(); use != uses_.begin() && freed < bytes;) {
    --use;
    Block& block = files_.at(use->path).blocks[use->block];
    if (block.registered.use_count() > 1) continue;
    freed += block.registered->bytes();
    dropped.push_back(std::move(block.registered));
    block = {};
    const std::string path = use->path;
    use = uses_.erase(use);
    unmap_if_unused(files_.find(path));
  }
}

// Unless a task is registering a block of it.
void MappedFiles::unmap_if_unused(Files::iterator file) {
  const auto& blocks = file->second.blocks;
  if (std::any_of(blocks.begin(), blocks.end(), [](const auto& entry) { return entry.second.state != Block::State::Unregistered; })) return;
  file->second.mapping = nullptr;  // the blocks in `dropped` keep it for a moment
  --mappings_;
}

MappedFiles::Statistics MappedFiles::statistics() const {
  std::lock_guard lock(mutex_);
  Statistics statistics{.files = mappings_};
  for (const Place& place : uses_) {
    statistics.bytes += files_.at(place.path).blocks.at(place.block).registered->bytes();
    ++statistics.blocks;
  }
  return statistics;
}

}  // namespace pistachio
