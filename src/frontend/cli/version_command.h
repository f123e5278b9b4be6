// `pistachio version`: the version of the engine and of every library it was linked with.
#pragma once

namespace pistachio {

int run_version_command();

}  // namespace pistachio
