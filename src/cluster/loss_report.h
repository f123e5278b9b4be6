// Report written when a query fails because a rank was lost: the last messages of this rank and the progress of each exchange. Blocks on the file
// system; do not call it on the transport's thread or a worker.
#pragma once

#include <string>

namespace pistachio {

// Writes to a folder of the user below `folder`, which keeps only the latest few reports. Returns the path; empty if it cannot be written,
// which must not fail the query a second time.
std::string write_loss_report(const std::string& folder, int rank, const std::string& text);

}  // namespace pistachio
