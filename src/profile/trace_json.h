// The trace of a query: what each thread of each rank worked on when, as JSON in the Trace Event Format that Perfetto (ui.perfetto.dev) and
// Chrome show. Ranks are processes there; each counts from the start of its own run.
#pragma once

#include <string>
#include <vector>

#include "profile/query_profile.h"

namespace pistachio {

// `steps`: names by number, as step_names() makes them.
std::string trace_json(const std::vector<std::string>& steps, const QueryProfile& profile);

}  // namespace pistachio
