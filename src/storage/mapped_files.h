// Local files whose pages in the page cache are registered with a GPU, which copies from there without the CPU. Registering costs time, so a
// file is registered block by block, as soon as reads of a block have cost about as much as registering it would. Blocks are kept for later
// queries, the least recently used go first, and all of a file's go when it changes. Their bytes count as memory of the engine. Thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/task.h"
#include "memory/memory_account.h"
#include "storage/data_file.h"
#include "storage/file_mapping.h"
#include "storage/parquet_footer.h"

namespace pistachio {

class MappedFiles {
 public:
  // A copy must not cross a multiple of this offset.
  static constexpr int64_t kBlockBytes = int64_t{64} << 20;
  // A process has a limited number of mappings (65,530 by default), which its allocators need too.
  static constexpr int64_t kMaxMappings = 4096;

  // The blocks' bytes are reserved in `memory`.
  MappedFiles(MemoryAccount memory, at::Device device) : memory_(std::move(memory)), device_(device) {}

  enum class When {
    Cached,  // register blocks that were read before and are in the page cache
    Always,  // register at once
  };
  // The mapped file, uint8 [size], for the device to copy `ranges` from; the host must not read it. Undefined if some of their bytes are not
  // registered: read them then. The tensor keeps its blocks registered.
  Task<at::Tensor> find(std::shared_ptr<DataFile> file, std::vector<ByteRange> ranges, When when);

  // Unregisters unused blocks until at least `bytes` are free or none is left (memory pressure).
  void release(int64_t bytes);

  struct Statistics {
    int64_t bytes = 0;  // registered
    int64_t blocks = 0;
    int64_t files = 0;  // mapped
  };
  Statistics statistics() const;

 private:
  class RegisteredBlock;
  struct Place {
    std::string path;
    int64_t block = 0;
  };
  struct Block {
    enum class State { Unregistered, Registering, Registered };
    State state = State::Unregistered;
    int64_t bytes_read = 0;  // since the last attempt to register it
    std::shared_ptr<const RegisteredBlock> registered;
    std::list<Place>::iterator use;  // if registered
  };
  struct MappedFile {
    FileIdentity identity;
    std::shared_ptr<const FileMapping> mapping;  // null: not mapped yet, or it cannot be
    std::map<int64_t, Block> blocks;             // by number
  };
  using Blocks = std::vector<std::shared_ptr<const RegisteredBlock>>;

  using Files = std::map<std::string, MappedFile>;

  Files::iterator find_entry(const DataFile& file, Blocks& outdated);
  Blocks drop(Files::iterator file);
  bool map(MappedFile& entry, DataFile& file);
  void unmap_if_unused(Files::iterator file);
  std::vector<int64_t> choose_blocks(MappedFile& file, const std::vector<ByteRange>& ranges, When when);
  std::shared_ptr<const RegisteredBlock> register_block(const std::shared_ptr<const FileMapping>& mapping, int64_t block, When when);
  at::Tensor tensor_over(MappedFile& file, const std::vector<ByteRange>& ranges);

  const MemoryAccount memory_;
  const at::Device device_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. Blocks are unregistered outside of it, since that waits for the device.
  Files files_;            // by path
  std::list<Place> uses_;  // registered blocks, most recently used first
  int64_t mappings_ = 0;   // of `files_`
};

}  // namespace pistachio
