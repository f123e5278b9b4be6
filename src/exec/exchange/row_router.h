// Chooses the destination rank of each row of an exchange.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "exec/core/operator.h"
#include "physical/physical_node.h"

namespace pistachio {

class RowRouter {
 public:
  virtual ~RowRouter() = default;

  // The chunk's rows for each rank, for each exchange of the chain; they may share memory with the chunk. Called by any lane. Throws
  // Cancelled soon after the token is cancelled.
  virtual std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken& token) = 0;

  // Whether the router needs global knowledge, such as the distribution of all ranks' rows. The sender then keeps its rows until settle().
  virtual bool must_settle() const { return false; }
  // Rows may be routed before settle() nevertheless: the router then decides for later rows only, and nothing is kept.
  virtual bool may_route_before() const { return false; }
  // Inspects a chunk of the rows before settle(); one call at a time. True: enough rows were inspected to decide.
  virtual bool inspect(const Chunk&) { return true; }
  // Called once on every rank, when enough rows or all of them were inspected. Waits for the other ranks, which must not be waiting for
  // rows of this one.
  virtual Task<void> settle();
  // No rows will be routed any more, except those that are kept.
  virtual void end_of_rows() {}
};

// The rows for each owner, where owners[bucket of the hash] is that of a row.
std::vector<Chunk> parts_by_owner(const Chunk& chunk, const at::Tensor& hashes, const at::Tensor& owners, int count);

// The router of the first exchange of `chain` (exchange_write.h). `waited_nanoseconds`: how long its lanes have waited for room to send.
std::unique_ptr<RowRouter> make_row_router(RunContext& context, const std::vector<const PhysicalExchange*>& chain,
                                           const std::vector<ColumnId>& layout, const std::atomic<int64_t>& waited_nanoseconds);

}  // namespace pistachio
