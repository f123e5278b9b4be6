// Starts threads so that a machine's refusal (a limit on processes, no address space left) becomes an error that says what to lower.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

namespace pistachio {

// `purpose` says what the thread is for, `remedy` what to do when there is none ("lower the setting threads"). Throws UserError.
std::thread start_thread(std::string_view purpose, std::string_view remedy, std::function<void()> body);

}  // namespace pistachio
