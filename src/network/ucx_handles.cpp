#include "network/ucx_handles.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "base/error.h"

namespace pistachio {
namespace {

// UCX's environment variables are the usual cause.
std::string ucx_variables() {
  std::string found;
  for (const char* name : {"UCX_TLS", "UCX_NET_DEVICES", "UCX_MODULES"}) {
    if (const char* value = std::getenv(name)) found += fmt::format("{}{}={}", found.empty() ? "" : ", ", name, value);
  }
  if (found.empty()) return "can /dev/shm be written, and is it large enough? UCX_LOG_LEVEL=info prints details";
  return fmt::format("the environment has {}: does this machine have that? UCX_LOG_LEVEL=info prints details", found);
}

void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK) throw UserError(fmt::format("UCX cannot {}: {}; {}", what, ucx_text(status), ucx_variables()));
}

}  // namespace

std::string ucx_text(ucs_status_t status) {
  return ucx().ucs_status_string(status);
}

UcxContext::UcxContext(int ranks, const UcxSettings& settings) {
  ucp_config_t* config = nullptr;
  require(ucx().ucp_config_read(nullptr, nullptr, &config), "read its settings");
  std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)> owner(config, ucx().ucp_config_release);
  // By default UCX uses TCP between processes of one machine, because it assumes that shared memory cannot detect the death of a peer. It
  // can, and so can our heartbeats. Older versions do not know this setting.
  ucx().ucp_config_modify(config, "MM_ERROR_HANDLING", "y");
  // While queries run, sender and receiver are rarely scheduled at the same time: a longer queue lets each do more per turn. UCX allocates
  // it twice, for both kinds of shared memory, with buffers that grow along: 10 MiB per kind and rank.
  ucx().ucp_config_modify(config, "MM_FIFO_SIZE", "128");
  ucx().ucp_config_modify(config, "MM_RX_BUFS_GROW", "160");
  ucx().ucp_config_modify(config, "MM_SEG_SIZE", std::to_string(kSharedMemorySegment).c_str());
  ucx().ucp_config_modify(config, "TCP_TX_SEG_SIZE", "64k");  // 8 KiB per system call would halve the bandwidth of TCP
  ucx().ucp_config_modify(config, "KEEPALIVE_INTERVAL", "1s");
  for (const auto& [name, value] : settings) {
    ucs_status_t status = ucx().ucp_config_modify(config, name.c_str(), value.c_str());
    if (status != UCS_OK) throw UserError(fmt::format("UCX refuses the setting {}={}: {}", name, value, ucx_text(status)));
  }
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  parameters.estimated_num_eps = static_cast<size_t>(ranks);
  require(ucx().ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, config, &context_), "start");
}

UcxWorker::UcxWorker(const UcxContext& context) {
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // created by one thread, used by another
  require(ucx().ucp_worker_create(context.get(), &parameters, &worker_), "make a worker");
  ucs_status_t status = ucx().ucp_worker_get_efd(worker_, &event_descriptor_);
  if (status != UCS_OK) {
    ucx().ucp_worker_destroy(worker_);
    require(status, "wait for events with these transports");
  }
}

std::string UcxWorker::address() const {
  ucp_address_t* address = nullptr;
  size_t length = 0;
  require(ucx().ucp_worker_get_address(worker_, &address, &length), "give its address");
  std::string bytes(reinterpret_cast<const char*>(address), length);
  ucx().ucp_worker_release_address(worker_, address);
  return bytes;
}

size_t UcxWorker::largest_header() const {
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
  require(ucx().ucp_worker_query(worker_, &attributes), "tell its limits");
  return attributes.max_am_header;
}

void UcxWorker::set_handler(unsigned id, ucp_am_recv_callback_t handler, void* argument) {
  ucp_am_handler_param_t parameters{};
  parameters.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  parameters.id = id;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
  parameters.cb = handler;
  parameters.arg = argument;
  require(ucx().ucp_worker_set_am_recv_handler(worker_, &parameters), "receive messages");
}

bool UcxWorker::progress() {
  bool worked = false;
  for (int i = 0; i < 16 && ucx().ucp_worker_progress(worker_) != 0; ++i) worked = true;
  return worked;
}

std::string route_of(ucp_ep_h endpoint) {
  ucp_transport_entry_t entries[16] = {};
  ucp_ep_attr_t attributes{};
  attributes.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
  attributes.transports.entries = entries;
  attributes.transports.num_entries = std::size(entries);
  attributes.transports.entry_size = sizeof(ucp_transport_entry_t);
  if (ucx().ucp_ep_query(endpoint, &attributes) != UCS_OK) return "unknown";
  std::string text;
  for (unsigned i = 0; i < attributes.transports.num_entries; ++i) {
    text += fmt::format("{}{}/{}", i == 0 ? "" : ",", entries[i].transport_name, entries[i].device_name);
  }
  return text;
}

bool goes_through_shared_memory(const std::string& route) {
  return route.find("sysv/") != std::string::npos || route.find("posix/") != std::string::npos;
}

}  // namespace pistachio
