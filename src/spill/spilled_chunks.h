// Rows on disk, in pieces of one packed chunk each. Written by any number of tasks, then read by any number. Memory: a few numbers per piece.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/task.h"
#include "data/chunk.h"
#include "spill/spill_file.h"

namespace pistachio {

class SpilledChunks {
 public:
  struct Piece {
    SpillPlace place;
    int64_t rows = 0;
    int64_t bytes() const { return place.bytes; }  // on disk, and in memory once it is read
  };

  explicit SpilledChunks(std::shared_ptr<SpillFile> file) : file_(std::move(file)) {}

  // Appends the rows as one piece. Pieces are in the order in which their writes ended.
  Task<void> add(Chunk rows);
  // Appends a piece that is already in the file.
  void add_written(Piece piece);

  // After the last add.
  const std::vector<Piece>& pieces() const { return pieces_; }
  int64_t rows() const { return rows_; }
  int64_t bytes() const { return bytes_; }
  Task<Chunk> read(size_t piece, at::Device device) const;
  // Frees the disk space of a piece that is not read again.
  void release(size_t piece) const noexcept { file_->release(pieces_[piece].place); }

 private:
  std::shared_ptr<SpillFile> file_;
  std::mutex mutex_;
  // Guarded by mutex_ while rows are added.
  std::vector<Piece> pieces_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace pistachio
