#include "frontend/cli/settings_command.h"

#include <fmt/format.h>

#include "frontend/cli/command_arguments.h"
#include "frontend/cli/text_table.h"

namespace pistachio {

int run_settings_command(int argc, char** argv, Settings settings, InterruptWatcher&) {
  CommandArguments arguments(argc, argv, {}, settings);
  if (!arguments.positional().empty()) throw UsageError("settings takes no arguments");
  complete_settings(settings);
  TextTable table({{"setting"}, {"value"}, {"takes"}, {"meaning"}});
  for (const SettingDescription& setting : setting_descriptions()) {
    table.add({std::string(setting.name), setting.show(settings), std::string(setting.type), std::string(setting.documentation)});
  }
  fmt::print("{}", table.to_string(100));
  return 0;
}

}  // namespace pistachio
