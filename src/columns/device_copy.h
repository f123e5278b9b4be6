// Copies columns to another device. Dictionaries are shared by many chunks, so a copier remembers those it has already copied.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "data/chunk.h"

namespace pistachio {

// The tensor on the device, contiguous if it was copied; the tensor itself if it is there already. Waits only for copies to the CPU. An
// undefined tensor stays undefined.
at::Tensor copied_to(const at::Tensor& tensor, at::Device device);
// The column itself if it is already there.
Column to_device(const Column& column, at::Device device);
Chunk to_device(const Chunk& chunk, at::Device device);

// Copies chunks that share dictionaries, each of which it copies once. Thread-safe.
class ChunkCopier {
 public:
  explicit ChunkCopier(at::Device device) : device_(device) {}
  at::Device device() const { return device_; }
  Chunk copy(const Chunk& chunk);
  std::shared_ptr<const Column> dictionary_copy(const std::shared_ptr<const Column>& dictionary);

 private:
  struct Copied {
    std::weak_ptr<const Column> source;  // detects an address that was reused
    std::shared_ptr<const Column> copy;
  };
  at::Device device_;
  std::mutex mutex_;
  std::map<const Column*, Copied> dictionaries_;  // guarded by mutex_
};

}  // namespace pistachio
