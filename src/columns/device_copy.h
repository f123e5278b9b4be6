// Columns on another device. Dictionaries are shared by many chunks, so a copier remembers those it has already moved.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "data/chunk.h"

namespace pistachio {

// The tensor on the device, without waiting for the copy; an undefined one stays undefined.
at::Tensor copied_to(const at::Tensor& tensor, at::Device device);
// The column itself if it is there already.
Column to_device(const Column& column, at::Device device);
Chunk to_device(const Chunk& chunk, at::Device device);

// Thread-safe.
class ChunkCopier {
 public:
  explicit ChunkCopier(at::Device device) : device_(device) {}
  Chunk copy(const Chunk& chunk);

 private:
  std::shared_ptr<const Column> dictionary_copy(const std::shared_ptr<const Column>& dictionary);

  struct Copied {
    std::weak_ptr<const Column> source;  // an address may be used again when this is gone
    std::shared_ptr<const Column> copy;
  };
  at::Device device_;
  std::mutex mutex_;
  std::map<const Column*, Copied> dictionaries_;  // guarded by mutex_
};

}  // namespace pistachio
