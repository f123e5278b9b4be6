// RAII owners of UCX handles, and status texts. A worker and its endpoints are used by one thread at a time.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <utility>
#include <vector>

#include "network/ucx_library.h"

namespace pistachio {

// UCX settings by name without the prefix UCX_ ("TLS", "tcp"). They override its environment variables.
using UcxSettings = std::vector<std::pair<std::string, std::string>>;

std::string ucx_text(ucs_status_t status);
inline std::string ucx_text(ucs_status_ptr_t status) {
  return ucx_text(UCS_PTR_STATUS(status));
}

class UcxContext {
 public:
  // Throws UserError if no transport is usable or a setting is wrong.
  UcxContext(int ranks, const UcxSettings& settings);
  ~UcxContext() { ucx().ucp_cleanup(context_); }
  UcxContext(const UcxContext&) = delete;
  UcxContext& operator=(const UcxContext&) = delete;

  ucp_context_h get() const { return context_; }

 private:
  ucp_context_h context_ = nullptr;
};

class UcxWorker {
 public:
  explicit UcxWorker(const UcxContext& context);
  ~UcxWorker() { ucx().ucp_worker_destroy(worker_); }
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  ucp_worker_h get() const { return worker_; }
  std::string address() const;
  size_t largest_header() const;
  int event_descriptor() const { return event_descriptor_; }

  void set_handler(unsigned id, ucp_am_recv_callback_t handler, void* argument);
  // Lets UCX work for a moment; it calls handlers and callbacks meanwhile. True if there was something to do.
  bool progress();

 private:
  ucp_worker_h worker_ = nullptr;
  int event_descriptor_ = -1;  // owned by UCX
};

// The transports of an endpoint: `sysv/memory`, several separated by commas.
std::string route_of(ucp_ep_h endpoint);

bool goes_through_shared_memory(const std::string& route);

// The largest message (frame and piece) that UCX passes through shared memory in one step, from where the receiver copies the piece to its
// place. UCX first assembles larger ones in its own memory, which costs another copy. Its queue counts bytes in 16 bits.
constexpr int64_t kSharedMemorySegment = 60 << 10;
// UCX's own header in front of a piece.
constexpr int64_t kSharedMemoryOverhead = 192;

}  // namespace pistachio
