// The receiving half of UcxProgress: checks frames and assembles pieces; IncomingDelivery takes the messages to the receiver.
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/format_bytes.h"
#include "network/message_limits.h"
#include "network/ucx_progress.h"

namespace pistachio {

ucs_status_t UcxProgress::on_message_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                           const ucp_am_recv_param_t* parameters) {
  UcxProgress& self = *static_cast<UcxProgress*>(argument);
  std::optional<Frame> frame = self.accept_frame(header, header_length, length);
  if (!frame) return UCS_OK;  // also ends a rendezvous: the sender learns that the bytes are not wanted
  return self.receive_piece(*frame, data, (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

ucs_status_t UcxProgress::on_control_frame(void* argument, const void* header, size_t header_length, void*, size_t length,
                                           const ucp_am_recv_param_t*) {
  static_cast<UcxProgress*>(argument)->accept_frame(header, header_length, length);
  return UCS_OK;
}

ucs_status_t UcxProgress::on_goodbye_frame(void* argument, const void* header, size_t header_length, void*, size_t length,
                                           const ucp_am_recv_param_t*) {
  UcxProgress& self = *static_cast<UcxProgress*>(argument);
  std::optional<Frame> frame = self.accept_frame(header, header_length, length);
  if (!frame) return UCS_OK;
  Peer& peer = self.peers_[frame->header.source];
  self.mark_broken(peer, fmt::format("{} has left the job", peer.info.to_string()));
  return UCS_OK;
}

void UcxProgress::on_endpoint_error(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  Peer& peer = *static_cast<Peer*>(argument);
  if (endpoint != peer.endpoint) return;  // already closed; the peer may have a new one
  peer.owner->mark_broken(peer, fmt::format("the connection to {} broke: {}", peer.info.to_string(), ucx_text(status)));
}

std::optional<Frame> UcxProgress::accept_frame(const void* header, size_t header_length, size_t length) {
  auto answer = parse_frame({static_cast<const uint8_t*>(header), header_length}, length, expected_);
  if (const auto* refusal = std::get_if<FrameRefusal>(&answer)) {
    refuse(*refusal);
    return std::nullopt;
  }
  Frame& frame = std::get<Frame>(answer);
  Peer& peer = peers_[frame.header.source];
  if (peer.lost || !peer.broken.empty() || leaving_ || cut_) return std::nullopt;
  // Late frames of a replaced process, or early ones of a process this rank has not heard of: neither is the known peer.
  if (frame.header.incarnation != peer.info.incarnation) return std::nullopt;
  peer.last_heard = loop_began_;
  peer.was_heard = true;
  return std::move(frame);
}

void UcxProgress::refuse(const FrameRefusal& refusal) {
  if (refusals_logged_.size() < 100 && refusals_logged_.insert(refusal.why).second) {
    options_.logger.warning("a frame was refused", {{"rank", options_.rank}, {"why", refusal.why}});
  }
  if (refusal.source >= 0) {
    Peer& peer = peers_[refusal.source];
    if (refusal.incarnation != peer.info.incarnation) return;
    mark_broken(peer, fmt::format("the connection to {} was closed: {}", peer.info.to_string(), refusal.why));
  }
}

ucs_status_t UcxProgress::receive_piece(Frame& frame, void* data, bool announced_only) {
  const FrameHeader& header = frame.header;
  Peer& peer = peers_[header.source];
  try {
    std::shared_ptr<IncomingMessage> incoming = peer.assembly.begin_piece(frame);
    if (incoming->is_refused) {
      piece_received(*incoming, header);
      return UCS_OK;
    }
    if (announced_only) {
      receive_announced(std::move(incoming), header, data);
      return UCS_INPROGRESS;
    }
    if (header.piece_length > 0) std::memcpy(MessageAssembly::place_of(*incoming, header), data, static_cast<size_t>(header.piece_length));
    piece_received(*incoming, header);
  } catch (const std::exception& error) {
    refuse({fmt::format("a message of {} could not be received: {}", format_bytes(header.payload_length), error.what()), header.source,
            header.incarnation});
  }
  return UCS_OK;
}

void UcxProgress::receive_announced(std::shared_ptr<IncomingMessage> incoming, const FrameHeader& header, void* data) {
  IncomingPiece& piece = incoming_pieces_.emplace_back(IncomingPiece{*this, std::move(incoming), header, false, {}});
  piece.place = std::prev(incoming_pieces_.end());
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.recv_am = on_piece_received;
  parameters.user_data = &piece;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  ucs_status_ptr_t request = ucx().ucp_am_recv_data_nbx(worker_.get(), data, MessageAssembly::place_of(*piece.message, header),
                                                  static_cast<size_t>(header.piece_length), &parameters);
  if (!UCS_PTR_IS_PTR(request)) on_piece_received(nullptr, UCS_PTR_RAW_STATUS(request), 0, &piece);
}

void UcxProgress::on_piece_received(void* request, ucs_status_t status, size_t, void* argument) {
  IncomingPiece& piece = *static_cast<IncomingPiece*>(argument);
  UcxProgress& self = piece.owner;
  if (request != nullptr) ucx().ucp_request_free(request);
  std::shared_ptr<IncomingMessage> incoming = std::move(piece.message);
  FrameHeader header = piece.header;
  if (piece.abandoned) {
    self.abandoned_incoming_.erase(piece.place);
    return;
  }
  self.incoming_pieces_.erase(piece.place);
  Peer& peer = self.peers_[header.source];
  if (peer.lost || !peer.broken.empty()) return;
  if (status != UCS_OK)
    return self.mark_broken(peer, fmt::format("the connection to {} broke: {}", peer.info.to_string(), ucx_text(status)));
  peer.last_heard = self.loop_began_;
  self.piece_received(*incoming, header);
}

void UcxProgress::piece_received(IncomingMessage& incoming, const FrameHeader& header) {
  Peer& peer = peers_[header.source];
  if (header.checksum != 0 && !incoming.is_refused) {
    const uint8_t* bytes = MessageAssembly::place_of(incoming, header);
    if (payload_checksum({bytes, static_cast<size_t>(header.piece_length)}) != header.checksum) {
      return refuse({"the checksum of a payload is wrong: it was damaged on its way", header.source, header.incarnation});
    }
  }
  std::optional<Message> message = peer.assembly.finish_piece(incoming, header);
  if (message) deliver(header.source, std::move(*message));
}

void UcxProgress::deliver(int source, Message message) {
  // See notice_own_stall(): what a process receives after it was stopped for long is not to be believed.
  if (source != options_.rank && Clock::now() - loop_began_ > options_.peer_timeout) return;
  incoming_.add_message(source, std::move(message), loop_began_);
}

}  // namespace pistachio
