#include "network/ucx_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <ucs/config/global_opts.h>
#include <ucs/debug/debug.h>
#include <ucs/debug/log_def.h>

#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/log.h"

namespace pistachio {
namespace {

LogLevel level_of(ucs_log_level_t level) {
  if (level <= UCS_LOG_LEVEL_ERROR) return LogLevel::Error;
  if (level <= UCS_LOG_LEVEL_WARN) return LogLevel::Warning;
  if (level <= UCS_LOG_LEVEL_INFO) return LogLevel::Info;
  return LogLevel::Debug;
}

ucs_log_func_rc_t log_to_stderr(const char*, unsigned, const char*, ucs_log_level_t level, const ucs_log_component_config_t*,
                                const char* format, va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof(text), format, arguments);
  // Buffers in flight to a process that died are still allocated when the worker is destroyed: known and of no interest to the user.
  for (const char* known : {"was not returned to mpool", "callbacks were not removed"}) {
    if (std::string_view(text).find(known) != std::string_view::npos) return UCS_LOG_FUNC_RC_STOP;
  }
  write_to_stderr({std::chrono::system_clock::now(), level_of(level), fmt::format("UCX: {}", text), {}});
  return UCS_LOG_FUNC_RC_STOP;
}

bool is_handled_by_ucx(int signal) {
  struct sigaction action {};
  Dl_info place{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
         dladdr(reinterpret_cast<const void*>(action.sa_handler), &place) != 0 && place.dli_fname != nullptr &&
         std::string_view(place.dli_fname).find("libucs") != std::string_view::npos;
}

// Never closed: UCX's threads and its patches of the C library outlive every use.
void* open_library(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UserError(fmt::format("UCX, which carries data between ranks, cannot be loaded: {}", dlerror()));
  return library;
}

template <typename Symbol>
void find_symbol(void* library, const char* name, Symbol*& symbol) {
  symbol = reinterpret_cast<Symbol*>(dlsym(library, name));
  if (symbol == nullptr) throw UserError(fmt::format("UCX has no {}: another version than the one this program was built with?", name));
}

void give_back_signals_and_output(void* ucs) {
  decltype(ucs_global_opts)* options = nullptr;
  decltype(ucs_log_push_handler)* push_handler = nullptr;
  decltype(ucs_debug_disable_signal)* disable_signal = nullptr;
  find_symbol(ucs, "ucs_global_opts", options);
  find_symbol(ucs, "ucs_log_push_handler", push_handler);
  find_symbol(ucs, "ucs_debug_disable_signal", disable_signal);
  // Our own errors report what went wrong.
  if (std::getenv("UCX_LOG_LEVEL") == nullptr) options->log_component.log_level = UCS_LOG_LEVEL_FATAL;
  push_handler(log_to_stderr);
  for (int signal : {SIGHUP, SIGILL, SIGSEGV, SIGBUS, SIGFPE}) {
    if (is_handled_by_ucx(signal)) disable_signal(signal);
  }
}

UcxLibrary load_library() {
  void* ucs = open_library("libucs.so.0");
  give_back_signals_and_output(ucs);
  void* ucp = open_library("libucp.so.0");
  UcxLibrary library{};
  find_symbol(ucp, "ucp_am_recv_data_nbx", library.ucp_am_recv_data_nbx);
  find_symbol(ucp, "ucp_am_send_nbx", library.ucp_am_send_nbx);
  find_symbol(ucp, "ucp_cleanup", library.ucp_cleanup);
  find_symbol(ucp, "ucp_config_modify", library.ucp_config_modify);
  find_symbol(ucp, "ucp_config_read", library.ucp_config_read);
  find_symbol(ucp, "ucp_config_release", library.ucp_config_release);
  find_symbol(ucp, "ucp_ep_close_nbx", library.ucp_ep_close_nbx);
  find_symbol(ucp, "ucp_ep_create", library.ucp_ep_create);
  find_symbol(ucp, "ucp_ep_flush_nbx", library.ucp_ep_flush_nbx);
  find_symbol(ucp, "ucp_ep_query", library.ucp_ep_query);
  find_symbol(ucp, "ucp_init_version", library.ucp_init_version);
  find_symbol(ucp, "ucp_request_check_status", library.ucp_request_check_status);
  find_symbol(ucp, "ucp_request_free", library.ucp_request_free);
  find_symbol(ucp, "ucp_worker_arm", library.ucp_worker_arm);
  find_symbol(ucp, "ucp_worker_create", library.ucp_worker_create);
  find_symbol(ucp, "ucp_worker_destroy", library.ucp_worker_destroy);
  find_symbol(ucp, "ucp_worker_get_address", library.ucp_worker_get_address);
  find_symbol(ucp, "ucp_worker_get_efd", library.ucp_worker_get_efd);
  find_symbol(ucp, "ucp_worker_progress", library.ucp_worker_progress);
  find_symbol(ucp, "ucp_worker_query", library.ucp_worker_query);
  find_symbol(ucp, "ucp_worker_release_address", library.ucp_worker_release_address);
  find_symbol(ucp, "ucp_worker_set_am_recv_handler", library.ucp_worker_set_am_recv_handler);
  find_symbol(ucp, "ucp_worker_signal", library.ucp_worker_signal);
  find_symbol(ucs, "ucs_status_string", library.ucs_status_string);
  Dl_info place{};
  if (dladdr(reinterpret_cast<const void*>(library.ucp_cleanup), &place) != 0 && place.dli_fname != nullptr) library.file = place.dli_fname;
  return library;
}

}  // namespace

const UcxLibrary& ucx() {
  static const UcxLibrary library = load_library();
  return library;
}

}  // namespace pistachio
