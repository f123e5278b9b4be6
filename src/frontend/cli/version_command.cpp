#include "frontend/cli/version_command.h"

#include <arrow/config.h>
#include <fmt/format.h>
#include <pg_query.h>
#include <torch/version.h>
#include <ucp/api/ucp_version.h>

#include "kernels/ops/instruction_set.h"

namespace pistachio {

int run_version_command(int, char**, Settings, InterruptWatcher&) {
  fmt::print("pistachio {}\n", PISTACHIO_VERSION);
  fmt::print("  tensors   PyTorch {}\n", TORCH_VERSION);
  fmt::print("  files     Arrow {}\n", arrow::GetBuildInfo().version_string);
  fmt::print("  transport UCX {}.{}\n", UCP_API_MAJOR, UCP_API_MINOR);
  fmt::print("  grammar   PostgreSQL {}\n", PG_VERSION);
  fmt::print("  kernels   {}\n", kernels::chosen_instruction_set());
#ifdef PISTACHIO_LINE_EDITING
  fmt::print("  editing   yes\n");
#else
  fmt::print("  editing   no\n");
#endif
#ifdef PISTACHIO_CUDA
  fmt::print("  cuda      yes\n");
#else
  fmt::print("  cuda      no\n");
#endif
  return 0;
}

}  // namespace pistachio
