#include "spill/spilled_chunks.h"

#include "base/error.h"
#include "columns/chunk_packing.h"

namespace pistachio {

Task<void> SpilledChunks::add(Chunk rows) {
  const int64_t count = rows.rows();
  std::vector<at::Tensor> blocks{pack_chunk(rows)};
  Task<std::vector<SpillPlace>> writing = file_->write(std::move(blocks));
  const std::vector<SpillPlace> places = co_await writing;
  add_written({places[0], count});
}

void SpilledChunks::add_written(Piece piece) {
  std::lock_guard lock(mutex_);
  pieces_.push_back(piece);
  rows_ += piece.rows;
  bytes_ += piece.bytes();
}

Task<Chunk> SpilledChunks::read(size_t piece, at::Device device) const {
  Task<at::Tensor> reading = file_->read(pieces_[piece].place);
  const at::Tensor block = co_await reading;
  try {
    co_return unpack_chunk(block, {}, device);
  } catch (const PeerError&) {
    throw UserError("rows in temp_directory are damaged: something else has changed them; check the disk or set temp_directory to another one");
  }
}

}  // namespace pistachio
