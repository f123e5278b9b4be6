#include "exec/exchange/row_router.h"

#include <atomic>

#include "base/check.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "exec/exchange/combiner_router.h"
#include "exec/exchange/hash_router.h"
#include "exec/exchange/range_router.h"
#include "kernels/ops/route_rows.h"
#include "kernels/ops/tensor_functions.h"
#include "network/exchange_hub.h"

namespace pistachio {

namespace {

class ToFirstRank final : public RowRouter {
 public:
  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken&) override { return {chunk}; }
};

class ToAllRanks final : public RowRouter {
 public:
  explicit ToAllRanks(int ranks) : ranks_(static_cast<size_t>(ranks)) {}
  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken&) override { return std::vector<Chunk>(ranks_, chunk); }

 private:
  size_t ranks_;
};

class EvenRouter final : public RowRouter {
 public:
  explicit EvenRouter(int ranks) : ranks_(ranks) {}

  std::vector<Chunk> parts_of(const Chunk& chunk, const CancelToken&) override {
    std::vector<Chunk> parts(static_cast<size_t>(ranks_));
    int64_t first = chunks_++;
    for (int64_t i = 0; i < ranks_; ++i) {
      int64_t begin = chunk.rows() * i / ranks_;
      int64_t end = chunk.rows() * (i + 1) / ranks_;
      parts[static_cast<size_t>((first + i) % ranks_)] = chunk.slice(begin, end - begin);
    }
    return parts;
  }

 private:
  int64_t ranks_;
  std::atomic<int64_t> chunks_ = 0;  // the next one begins at another rank
};

}  // namespace

Task<void> RowRouter::settle() {
  co_return;
}

std::vector<Chunk> parts_by_owner(const Chunk& chunk, const at::Tensor& hashes, const at::Tensor& owners, int count) {
  auto [order, offsets] = kernels::route_rows(hashes, owners, count);
  at::Tensor places = copied_to(offsets, at::kCPU);
  const int64_t* place = places.const_data_ptr<int64_t>();
  std::vector<Chunk> parts(static_cast<size_t>(count));
  for (int owner = 0; owner < count; ++owner) {
    const int64_t begin = place[owner], end = place[owner + 1];
    if (begin == end) continue;
    Chunk& part = parts[static_cast<size_t>(owner)];
    part = end - begin == chunk.rows() ? chunk : take_rows(chunk, order.slice(0, begin, end));
  }
  return parts;
}

std::unique_ptr<RowRouter> make_row_router(RunContext& context, const std::vector<const PhysicalExchange*>& chain,
                                           const std::vector<ColumnId>& layout, const std::atomic<int64_t>& waited_nanoseconds) {
  const PhysicalExchange& exchange = *chain.front();
  int ranks = context.exchanges->ranks();
  switch (exchange.kind) {
    case PhysicalExchange::Kind::Gather:
    case PhysicalExchange::Kind::Merge:
    case PhysicalExchange::Kind::RankByRank: return std::make_unique<ToFirstRank>();
    case PhysicalExchange::Kind::Broadcast: return std::make_unique<ToAllRanks>(ranks);
    case PhysicalExchange::Kind::Scatter: return std::make_unique<EvenRouter>(ranks);
    case PhysicalExchange::Kind::Repartition: return make_hash_router(context, exchange, layout);
    case PhysicalExchange::Kind::ToCombiner: return make_combiner_router(context, chain, layout, waited_nanoseconds);
    case PhysicalExchange::Kind::SpreadBuild: return make_spread_build_router(context, exchange, layout);
    case PhysicalExchange::Kind::Range: return make_range_router(context, exchange, layout);
  }
  fail_check(__FILE__, __LINE__, "unknown exchange");
}

}  // namespace pistachio
