// Receives the messages of a UcxTransport: checks each frame before trusting or allocating anything, assembles pieces into messages and
// passes these to IncomingDelivery. A damaged frame or a goodbye marks its peer broken; closing the peer is up to UcxProgress.
// Owned by UcxProgress and used by its thread alone, mostly in UCX's callbacks, so the worker is destroyed first.
// Memory: incomplete messages; pieces in flight from a lost peer until UCX returns them or is gone.
#pragma once

#include <ucp/api/ucp.h>

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "network/frame.h"
#include "network/incoming_delivery.h"
#include "network/job_secret.h"
#include "network/message_assembly.h"
#include "network/ucx_handles.h"
#include "network/ucx_loop_state.h"
#include "network/ucx_peers.h"
#include "network/ucx_transport.h"

namespace pistachio {

class UcxReceiving {
 public:
  // All outlive the last call; the worker may be constructed later.
  UcxReceiving(const UcxOptions& options, const UcxLoopState& loop, UcxPeers& peers, IncomingDelivery& incoming, UcxWorker& worker)
      : options_(options), loop_(loop), peers_(peers), incoming_(incoming), worker_(worker) {}

  // Call once there is a worker: UCX hands it frames from here on.
  void register_handlers();
  // Call once the peers are known: until then every frame is refused.
  void add_peers(const JobSecret& key);
  // Drops every later frame.
  void close() { closed_ = true; }

  // Drops pieces in flight from a peer; UCX may keep their memory.
  void abandon_pieces(int peer);
  void drop_incomplete(int peer);

  bool has_pieces_under_way() const { return !pieces_.empty(); }

 private:
  // What UCX's callbacks get: it stays in its list, and so alive, until UCX is done with it or gone.
  struct Piece {
    UcxReceiving& owner;
    std::shared_ptr<IncomingMessage> message;
    FrameHeader header;
    bool abandoned = false;
    std::list<Piece>::iterator place;
  };

  static ucs_status_t on_message_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                       const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_heartbeat_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                         const ucp_am_recv_param_t* parameters);
  static ucs_status_t on_goodbye_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                       const ucp_am_recv_param_t* parameters);
  static void on_piece_received(void* request, ucs_status_t status, size_t length, void* argument);
  std::optional<Frame> accept_frame(const void* header, size_t header_length, size_t length);
  void refuse(const FrameRefusal& refusal);
  ucs_status_t receive_piece(Frame& frame, void* data, bool announced_only);
  void receive_announced(std::shared_ptr<IncomingMessage> incoming, const FrameHeader& header, void* data);
  void piece_received(IncomingMessage& incoming, const FrameHeader& header);
  void deliver(int source, Message message);

  const UcxOptions& options_;
  const UcxLoopState& loop_;
  UcxPeers& peers_;
  IncomingDelivery& incoming_;
  UcxWorker& worker_;
  FrameExpectation expected_;
  std::vector<MessageAssembly> assemblies_;  // by rank
  std::list<Piece> pieces_;
  // Of lost peers: UCX does not always return buffers in flight from a process that died, so their memory stays until UCX is gone.
  std::list<Piece> abandoned_;
  std::set<std::string> refusals_logged_;
  bool closed_ = false;
};

}  // namespace pistachio
