#include "network/ucx_receiving.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <variant>

#include "base/format_bytes.h"
#include "network/ucx_handlers.h"

namespace pistachio {

void UcxReceiving::register_handlers() {
  worker_.set_handler(kMessageHandler, on_message_frame, this);
  worker_.set_handler(kHeartbeatHandler, on_heartbeat_frame, this);
  worker_.set_handler(kGoodbyeHandler, on_goodbye_frame, this);
}

void UcxReceiving::add_peers(const JobSecret& key) {
  expected_.self = options_.rank;
  for (const UcxPeer& peer : peers_) expected_.tags.push_back(frame_tag(key, peer.info.rank, options_.rank));
  assemblies_.resize(expected_.tags.size());
}

ucs_status_t UcxReceiving::on_message_frame(void* argument, const void* header, size_t header_length, void* data, size_t length,
                                            const ucp_am_recv_param_t* parameters) {
  UcxReceiving& self = *static_cast<UcxReceiving*>(argument);
  std::optional<Frame> frame = self.accept_frame(header, header_length, length);
  if (!frame) return UCS_OK;  // also ends a rendezvous: the sender learns that the bytes are not wanted
  return self.receive_piece(*frame, data, (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

ucs_status_t UcxReceiving::on_heartbeat_frame(void* argument, const void* header, size_t header_length, void*, size_t length,
                                              const ucp_am_recv_param_t*) {
  static_cast<UcxReceiving*>(argument)->accept_frame(header, header_length, length);
  return UCS_OK;
}

ucs_status_t UcxReceiving::on_goodbye_frame(void* argument, const void* header, size_t header_length, void*, size_t length,
                                            const ucp_am_recv_param_t*) {
  UcxReceiving& self = *static_cast<UcxReceiving*>(argument);
  std::optional<Frame> frame = self.accept_frame(header, header_length, length);
  if (!frame) return UCS_OK;
  UcxPeer& peer = self.peers_[frame->header.source];
  peer.mark_broken(fmt::format("{} has left the job", peer.info.to_string()));
  return UCS_OK;
}

std::optional<Frame> UcxReceiving::accept_frame(const void* header, size_t header_length, size_t length) {
  auto answer = parse_frame({static_cast<const uint8_t*>(header), header_length}, length, expected_);
  if (const auto* refusal = std::get_if<FrameRefusal>(&answer)) {
    refuse(*refusal);
    return std::nullopt;
  }
  Frame& frame = std::get<Frame>(answer);
  UcxPeer& peer = peers_[frame.header.source];
  if (!peer.is_sound() || closed_ || loop_.is_cut) return std::nullopt;
  // Late frames of a replaced process, or early ones of a process this rank has not heard of: neither is the known peer.
  if (frame.header.incarnation != peer.info.incarnation) return std::nullopt;
  peer.last_heard = loop_.began;
  peer.was_heard = true;
  return std::move(frame);
}

void UcxReceiving::refuse(const FrameRefusal& refusal) {
  if (refusals_logged_.size() < 100 && refusals_logged_.insert(refusal.why).second) {
    options_.logger.warning("a frame was refused", {{"rank", options_.rank}, {"why", refusal.why}});
  }
  if (refusal.source >= 0) {
    UcxPeer& peer = peers_[refusal.source];
    if (refusal.incarnation != peer.info.incarnation) return;
    peer.mark_broken(fmt::format("the connection to {} was closed: {}", peer.info.to_string(), refusal.why));
  }
}

ucs_status_t UcxReceiving::receive_piece(Frame& frame, void* data, bool announced_only) {
  const FrameHeader& header = frame.header;
  try {
    std::shared_ptr<IncomingMessage> incoming = assemblies_[header.source].begin_piece(frame);
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

void UcxReceiving::receive_announced(std::shared_ptr<IncomingMessage> incoming, const FrameHeader& header, void* data) {
  Piece& piece = pieces_.emplace_back(Piece{*this, std::move(incoming), header, false, {}});
  piece.place = std::prev(pieces_.end());
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.recv_am = on_piece_received;
  parameters.user_data = &piece;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  ucs_status_ptr_t request = ucx().ucp_am_recv_data_nbx(worker_.get(), data, MessageAssembly::place_of(*piece.message, header),
                                                        static_cast<size_t>(header.piece_length), &parameters);
  if (!UCS_PTR_IS_PTR(request)) on_piece_received(nullptr, UCS_PTR_RAW_STATUS(request), 0, &piece);
}

void UcxReceiving::on_piece_received(void* request, ucs_status_t status, size_t, void* argument) {
  Piece& piece = *static_cast<Piece*>(argument);
  UcxReceiving& self = piece.owner;
  if (request != nullptr) ucx().ucp_request_free(request);
  std::shared_ptr<IncomingMessage> incoming = std::move(piece.message);
  FrameHeader header = piece.header;
  if (piece.abandoned) {
    self.abandoned_.erase(piece.place);
    return;
  }
  self.pieces_.erase(piece.place);
  UcxPeer& peer = self.peers_[header.source];
  if (!peer.is_sound()) return;
  if (status != UCS_OK) return peer.mark_connection_broken(status);
  peer.last_heard = self.loop_.began;
  self.piece_received(*incoming, header);
}

void UcxReceiving::piece_received(IncomingMessage& incoming, const FrameHeader& header) {
  if (header.checksum != 0 && !incoming.is_refused) {
    const uint8_t* bytes = MessageAssembly::place_of(incoming, header);
    if (payload_checksum({bytes, static_cast<size_t>(header.piece_length)}) != header.checksum) {
      return refuse({"the checksum of a payload is wrong: it was damaged on its way", header.source, header.incarnation});
    }
  }
  std::optional<Message> message = assemblies_[header.source].finish_piece(incoming, header);
  if (message) deliver(header.source, std::move(*message));
}

void UcxReceiving::deliver(int source, Message message) {
  // See UcxPeers::notice_own_pause(): a process that was suspended for long must not trust what it receives afterwards.
  if (std::chrono::steady_clock::now() - loop_.began > options_.peer_timeout) return;
  incoming_.add_message(source, std::move(message), loop_.began);
}

void UcxReceiving::abandon_pieces(int peer) {
  for (auto next = pieces_.begin(); next != pieces_.end();) {
    auto piece = next++;
    if (piece->header.source != peer) continue;
    piece->abandoned = true;
    abandoned_.splice(abandoned_.end(), pieces_, piece);
  }
}

void UcxReceiving::drop_incomplete(int peer) {
  assemblies_[peer] = {};
}

}  // namespace pistachio
