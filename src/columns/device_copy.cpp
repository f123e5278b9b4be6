#include "columns/device_copy.h"

#include <ATen/core/Tensor.h>

#include "kernels/ops/host_memory.h"

namespace pistachio {

// Not by to(): a copy of pageable memory has an eighth of the bandwidth and blocks the thread until it is done.
at::Tensor copied_to(const at::Tensor& tensor, at::Device device) {
  if (!tensor.defined() || tensor.device().type() == device.type()) return tensor;
  return device.is_cpu() ? kernels::download(tensor.contiguous()) : kernels::upload(tensor.contiguous(), device);
}

Column to_device(const Column& column, at::Device device) {
  if (column.device() == device) return column;
  at::Tensor validity = copied_to(column.validity(), device);
  if (column.is_dictionary()) {
    auto dictionary = std::make_shared<const Column>(to_device(*column.dictionary_column(), device));
    return Column::dictionary(copied_to(column.codes(), device), std::move(dictionary), std::move(validity));
  }
  if (column.type().is_text()) {
    return Column::text(column.type(), copied_to(column.bytes(), device), copied_to(column.begins(), device), copied_to(column.ends(), device),
                        std::move(validity));
  }
  return Column::fixed(column.type(), copied_to(column.values(), device), std::move(validity));
}

Chunk to_device(const Chunk& chunk, at::Device device) {
  if (chunk.device() == device) return chunk;
  std::vector<Column> columns;
  columns.reserve(chunk.column_count());
  for (const Column& column : chunk.columns()) columns.push_back(to_device(column, device));
  return Chunk(std::move(columns), chunk.rows(), device);
}

Chunk ChunkCopier::copy(const Chunk& chunk) {
  if (chunk.device() == device_) return chunk;
  std::vector<Column> columns;
  columns.reserve(chunk.column_count());
  for (const Column& column : chunk.columns()) {
    if (column.is_dictionary()) {
      columns.push_back(Column::dictionary(copied_to(column.codes(), device_), dictionary_copy(column.dictionary_column()),
                                           copied_to(column.validity(), device_)));
    } else {
      columns.push_back(to_device(column, device_));
    }
  }
  return Chunk(std::move(columns), chunk.rows(), device_);
}

std::shared_ptr<const Column> ChunkCopier::dictionary_copy(const std::shared_ptr<const Column>& dictionary) {
  if (dictionary->device() == device_) return dictionary;
  {
    std::lock_guard lock(mutex_);
    auto known = dictionaries_.find(dictionary.get());
    if (known != dictionaries_.end() && !known->second.source.expired()) return known->second.copy;
  }
  // Outside the lock, so that others can copy meanwhile; occasionally the same dictionary is copied twice.
  auto copy = std::make_shared<const Column>(to_device(*dictionary, device_));
  std::lock_guard lock(mutex_);
  std::erase_if(dictionaries_, [](const auto& known) { return known.second.source.expired(); });
  dictionaries_[dictionary.get()] = {dictionary, copy};
  return copy;
}

}  // namespace pistachio
