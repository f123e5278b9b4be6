// What one run of the on-path benchmark did: the six published stages, the bytes that crossed the network and the work of the combiners,
// from the profile of the query. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/query_profile.h"

namespace pistachio {

// Seconds on the rank that needs most for the stage; stages overlap, so they do not add up to the time of the query.
struct OnPathStages {
  // Before the published pipeline, whose keys are in device memory and not deduplicated there.
  double read = 0;
  double local_dedupe = 0;
  // Published.
  double device_to_host = 0;  // t1: 0 on CPUs; not measured on GPUs, since the work of an exchange does not include packing messages
  double combine = 0;         // t2: hand-over to the combiner of the host, and its merging
  double send = 0;            // t3: partitioning, and waiting for the link
  double receive = 0;         // t4: unpacking at the sink
  double host_to_device = 0;  // t5: 0 on CPUs; on GPUs a part of t4
  double final_dedupe = 0;    // t6
};

struct NamedStage {
  std::string_view name;       // in tables
  std::string_view json_name;
  double OnPathStages::*seconds;
  bool is_device_copy = false;
};

constexpr NamedStage kOnPathStages[] = {
    {"read", "read", &OnPathStages::read},
    {"local dedupe", "local_dedupe", &OnPathStages::local_dedupe},
    {"t1 to host", "t1_device_to_host", &OnPathStages::device_to_host, true},
    {"t2 combine", "t2_combine", &OnPathStages::combine},
    {"t3 send", "t3_send", &OnPathStages::send},
    {"t4 receive", "t4_receive", &OnPathStages::receive},
    {"t5 to device", "t5_host_to_device", &OnPathStages::host_to_device, true},
    {"t6 final", "t6_final_dedupe", &OnPathStages::final_dedupe},
};

struct OnPathRun {
  double seconds = 0;  // of the query
  OnPathStages stages;
  int64_t wire_rows = 0;        // that reach the sink
  int64_t wire_bytes = 0;       // that the sink receives from other hosts, whichever exchange brings them
  int64_t host_bytes = 0;       // from rank to rank within hosts
  int64_t combiner_rows = 0;    // into the combiners of all hosts
  double combiner_seconds = 0;  // of their work, summed over the combiners

  // Rows per second and combining rank; nullopt without a combiner.
  std::optional<double> combiner_rate() const;
};

// `steps`: the name of each step of the plan (EXPLAIN), by step number. `threads`: of a rank. Rank 0 is the sink. Throws InternalError if
// the plan does not gather keys on rank 0.
OnPathRun on_path_run(const std::vector<std::string>& steps, const QueryProfile& profile, int64_t threads);

// The median of each figure.
OnPathRun median_of(const std::vector<OnPathRun>& runs);

}  // namespace pistachio
