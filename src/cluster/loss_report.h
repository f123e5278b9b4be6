// Report written when a query fails because a rank was lost: the last messages of this rank and the progress of each exchange. Blocks on the file
// system; do not call it on the transport's thread or a worker.
#pragma once

#include <string>

namespace pistachio {

// Into a folder of the user's own below `folder`, where only the latest few are kept. The path; empty if it cannot be written, which is no
// reason to fail twice.
std::string write_loss_report(const std::string& folder, int rank, const std::string& text);

}  // namespace pistachio
