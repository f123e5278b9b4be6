// A probe that may take over buckets of other ranks while it runs (exec/adaptive/bucket_help.h). Each takeover adds a build side of its own.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "exec/adaptive/bucket_help.h"
#include "exec/operators/join_probe.h"

namespace pistachio {

// The keys by which a spread join's inputs are distributed over the ranks (bucket_help.h).
struct SpreadKeys {
  size_t exchange = 0;  // of the probe side
  std::vector<ExpressionPtr> probe;
  std::vector<ExpressionPtr> build;
};

class HelpingProbe final : public ChunkSink, public BucketHelp::Join {
 public:
  // All outlive it.
  HelpingProbe(const JoinShape& shape, const SpreadKeys& spread, BuildSide& build, RunContext& context, OperatorMetrics& metrics,
               ChunkSink& next);

  bool is_full() const override { return next_.is_full(); }
  Task<void> consume(int lane, Chunk chunk) override;
  std::optional<Chunk> build_rows(const BucketHelp::Buckets& buckets, int64_t most_bytes) override;
  void take_over(const BucketHelp::Buckets& buckets, std::vector<Chunk> rows) override;

 private:
  struct Tables {
    at::Tensor of_bucket;
    std::vector<JoinProbe*> probes;
  };
  Tables tables();
  void build_from(BuildSide& build, const std::vector<Chunk>& chunks) const;

  const JoinShape& shape_;
  RunContext& context_;
  OperatorMetrics& metrics_;
  ChunkSink& next_;
  BuildSide& build_;
  ExpressionEvaluator probe_keys_;
  ExpressionEvaluator build_keys_;
  std::mutex mutex_;
  // Guarded by mutex_; list elements are never removed.
  at::Tensor table_of_bucket_;  // int64 [kBuckets]: index into probes_
  std::vector<std::unique_ptr<BuildSide>> builds_;
  std::vector<std::unique_ptr<JoinProbe>> probes_;  // the first one probes this rank's own build rows
};

}  // namespace pistachio
