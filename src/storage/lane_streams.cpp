#include "storage/lane_streams.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/check.h"

namespace pistachio {

namespace {

// Keeps the allocator from reusing memory that was allocated on another stream while `stream` still reads it.
void note_use(const at::Tensor& tensor, const c10::Stream& stream) {
  if (tensor.defined() && tensor.is_cuda()) tensor.record_stream(stream);
}

void note_use(const Column& column, const c10::Stream& stream) {
  note_use(column.validity(), stream);
  if (column.is_dictionary()) {
    note_use(column.codes(), stream);
    note_use(*column.dictionary_column(), stream);
  } else if (column.type().is_text()) {
    for (const at::Tensor& tensor : {column.bytes(), column.begins(), column.ends()}) note_use(tensor, stream);
  } else {
    note_use(column.values(), stream);
  }
}

}  // namespace

c10::Stream LaneStreams::take(at::Device device) {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  c10::Stream stream = free_.back();
  ENSURE(stream.device_type() == device.type());
  free_.pop_back();
  return stream;
}

void LaneStreams::give_back(c10::Stream stream) {
  std::lock_guard lock(mutex_);
  free_.push_back(stream);
}

LaneStream::LaneStream(std::shared_ptr<LaneStreams> streams, at::Device device) : streams_(std::move(streams)) {
  if (device.is_cuda()) stream_ = streams_->take(device);
}

LaneStream::~LaneStream() {
  if (stream_) streams_->give_back(*stream_);
}

void LaneStream::wait() const {
  if (stream_) stream_->synchronize();
}

OnLaneStream::OnLaneStream(const LaneStream& lane) : own_(lane.stream()) {
  if (own_) outer_ = c10::impl::VirtualGuardImpl(own_->device_type()).exchangeStream(*own_);
}

OnLaneStream::~OnLaneStream() {
  if (outer_) c10::impl::VirtualGuardImpl(outer_->device_type()).exchangeStream(*outer_);
}

void OnLaneStream::hand_over(const Chunk& chunk) const {
  if (!own_) return;
  c10::Event complete(own_->device_type());
  complete.record(*own_);
  complete.block(*outer_);
  for (const Column& column : chunk.columns()) note_use(column, *outer_);
}

}  // namespace pistachio
