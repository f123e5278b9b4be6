// Chooses the destination rank of each row of an exchange.
#pragma once

#include <memory>
#include <vector>

#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

class RowRouter {
 public:
  virtual ~RowRouter() = default;

  // The rows for each rank; they may share memory with the chunk. Any number of lanes. Throws Cancelled soon after the token is cancelled.
  virtual std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) = 0;

  // Some must know more than the chunk, such as how the rows of all ranks are spread. Until they are settled, the sender keeps its rows.
  virtual bool must_settle() const { return false; }
  // Of rows that are kept; one call at a time. True: these and those before are enough to go by.
  virtual bool look_at(const Chunk&) { return true; }
  // Called once, on every rank: when enough rows were looked at, or all. Waits for other ranks, which must not wait for rows of this one.
  virtual Task<void> settle();
  // Nothing more will be routed but what is kept.
  virtual void end_of_rows() {}
};

// The rows for each rank, where owners[bucket of the hash] is the rank of a row.
std::vector<Chunk> parts_by_owner(const Chunk& chunk, const at::Tensor& hashes, const at::Tensor& owners, int ranks);

std::unique_ptr<RowRouter> make_row_router(RunContext& context, const PhysicalExchange& exchange, const std::vector<ColumnId>& layout);

}  // namespace pistachio
