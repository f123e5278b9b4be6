// Spreads a physical plan over ranks: scans are dealt out, and exchanges are put where a node needs its input to lie otherwise than it
// does.
#pragma once

#include "config/settings.h"
#include "physical/physical_node.h"

namespace pistachio {

struct PlacementOptions {
  int ranks = 1;
  // Also tables in memory and constants are spread, however few rows they have: for tests.
  bool spread_everything = false;
  JoinDistribution joins = JoinDistribution::Auto;
  SortDistribution sorts = SortDistribution::Auto;
  // Frequent keys of joins are worked on by all ranks. Not with schedules that send the build side before they read the probe side.
  bool spread_keys = false;
  // Every rank reads files of its own.
  bool local_files = false;
  // Bytes a second that a link carries, to be weighed against the work on rows; 0: not known.
  double link_speed = 0;
};

// The plan is one for a single rank (plan_physical). Of the ways a node can run, the one that moves the fewest bytes is taken; an input
// that lies right already moves none. Throws InternalError when the result does not hold together.
void place_exchanges(PhysicalPlan& plan, const PlacementOptions& options);

}  // namespace pistachio
