// UCX's functions, loaded with dlopen when the first rank needs them. Linking UCX would add 0.4 s to the start of every command (it patches the C library's
// memory functions while loading) and install signal handlers in commands that never use it.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace pistachio {

struct UcxLibrary {
  decltype(&::ucp_am_recv_data_nbx) ucp_am_recv_data_nbx;
  decltype(&::ucp_am_send_nbx) ucp_am_send_nbx;
  decltype(&::ucp_cleanup) ucp_cleanup;
  decltype(&::ucp_config_modify) ucp_config_modify;
  decltype(&::ucp_config_read) ucp_config_read;
  decltype(&::ucp_config_release) ucp_config_release;
  decltype(&::ucp_ep_close_nbx) ucp_ep_close_nbx;
  decltype(&::ucp_ep_create) ucp_ep_create;
  decltype(&::ucp_ep_flush_nbx) ucp_ep_flush_nbx;
  decltype(&::ucp_ep_query) ucp_ep_query;
  decltype(&::ucp_init_version) ucp_init_version;  // called by the header's ucp_init
  decltype(&::ucp_request_check_status) ucp_request_check_status;
  decltype(&::ucp_request_free) ucp_request_free;
  decltype(&::ucp_worker_arm) ucp_worker_arm;
  decltype(&::ucp_worker_create) ucp_worker_create;
  decltype(&::ucp_worker_destroy) ucp_worker_destroy;
  decltype(&::ucp_worker_get_address) ucp_worker_get_address;
  decltype(&::ucp_worker_get_efd) ucp_worker_get_efd;
  decltype(&::ucp_worker_progress) ucp_worker_progress;
  decltype(&::ucp_worker_query) ucp_worker_query;
  decltype(&::ucp_worker_release_address) ucp_worker_release_address;
  decltype(&::ucp_worker_set_am_recv_handler) ucp_worker_set_am_recv_handler;
  decltype(&::ucp_worker_signal) ucp_worker_signal;
  decltype(&::ucs_status_string) ucs_status_string;
  std::string file;  // path of the loaded library
};

// Loads UCX at the first call, from the program's run path; restores the signal handlers that it installs and sends its output to stderr,
// of which there is none unless UCX_LOG_LEVEL is set. Any thread, but best before others start: UCX patches memory functions of the C
// library. Throws UserError if the library or one of its functions is missing.
const UcxLibrary& ucx();

}  // namespace pistachio
