// The sending half of UcxProgress: splits messages into pieces and hands them to UCX while few enough are in flight.
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"
#include "network/link_pacing.h"
#include "network/message_limits.h"
#include "network/ucx_handlers.h"
#include "network/ucx_progress.h"

namespace pistachio {
namespace {

// Limit in flight to one peer: enough to hide the latency of the rendezvous protocol, little enough for heartbeats to pass in time.
constexpr int64_t kBytesUnderWay = int64_t{32} << 20;
constexpr int kPiecesUnderWay = 256;
constexpr int64_t kLeastPiece = 16 << 10;

}  // namespace

bool OutgoingMessage::all_begun() const {
  return first_begun && begun == payload_bytes(message);
}

// Under a bandwidth limit a piece is what passes in 10 ms, so that bytes flow evenly.
int64_t UcxProgress::piece_limit(const Peer& peer, const OutgoingMessage& message) const {
  int64_t head = message.first_begun ? 0 : static_cast<int64_t>(message.message.head.size());
  int64_t most = std::min(options_.piece_bytes, peer.largest_frame - static_cast<int64_t>(sizeof(FrameHeader)) - head);
  if (!limit_.is_on()) return most;
  return std::clamp(limit_.bytes_per_second() / 100, std::min(kLeastPiece, most), most);
}

void UcxProgress::accept_outgoing(std::shared_ptr<OutgoingMessage> message) {
  if (message->replacement) return replace_peer(*message->replacement);
  Peer& peer = peers_[message->peer];
  if (peer.lost) {
    message->error = std::make_exception_ptr(PeerError(message->peer, "a message was not sent: " + peer.lost_because));
    return finish_outgoing(*message);
  }
  if (message->peer == options_.rank) return deliver_to_self(*message);
  message->number = next_number_++;
  if (limit_.is_on()) message->accepted = Clock::now();
  auto& waiting = peer.waiting.queue_for(payload_bytes(message->message));
  auto before = std::find_if(waiting.rbegin(), waiting.rend(), [&](const std::shared_ptr<OutgoingMessage>& other) {
    return other->message.urgency >= message->message.urgency;
  });
  waiting.insert(before.base(), std::move(message));
}

void UcxProgress::deliver_to_self(OutgoingMessage& message) {
  Message copy{message.message.kind, message.message.head, {}};
  int64_t bytes = payload_bytes(message.message);
  try {
    if (message.message.payload.defined()) copy.payload = at::empty({bytes}, at::kByte);
    if (bytes > 0) std::memcpy(copy.payload.mutable_data_ptr(), message.message.payload.const_data_ptr(), static_cast<size_t>(bytes));
  } catch (...) {
    message.error = std::current_exception();
  }
  bool copied = message.error == nullptr;
  finish_outgoing(message);
  if (copied) deliver(options_.rank, std::move(copy));
}

bool UcxProgress::begin_pieces() {
  bool any = false;
  holding_back_ = false;
  for (size_t idle = 0; idle < peers_.size();) {
    Peer& peer = peers_[next_peer_];
    next_peer_ = (next_peer_ + 1) % peers_.size();
    // One piece per peer and turn, so that no peer waits for another's backlog.
    bool begun = begin_next_piece(peer);
    idle = begun ? 0 : idle + 1;
    any |= begun;
  }
  return any;
}

bool UcxProgress::begin_next_piece(Peer& peer) {
  if (cut_ || peer.lost || !peer.broken.empty() || peer.waiting.empty()) return false;
  if (peer.pieces_under_way >= kPiecesUnderWay || peer.bytes_under_way >= kBytesUnderWay) return false;
  std::shared_ptr<OutgoingMessage> message = peer.waiting.front();
  if (limit_.is_on() && payload_bytes(message->message) > 0 && limit_.free_at() > Clock::now()) {
    holding_back_ = true;
    return false;
  }
  bool is_last = payload_bytes(message->message) - message->begun <= piece_limit(peer, *message);
  peer.waiting.end_turn(is_last);
  begin_piece(peer, message);
  return true;
}

void UcxProgress::begin_piece(Peer& peer, const std::shared_ptr<OutgoingMessage>& message) {
  const Message& content = message->message;
  FrameHeader header;
  header.kind = content.kind;
  header.tag = peer.tag;
  header.message = message->number;
  header.payload_length = content.payload.defined() ? content.payload.numel() : -1;
  header.piece_offset = message->begun;
  header.piece_length = std::min(payload_bytes(content) - message->begun, piece_limit(peer, *message));
  header.source = options_.rank;
  header.incarnation = static_cast<uint16_t>(peers_[static_cast<size_t>(options_.rank)].info.incarnation);
  const uint8_t* data = header.piece_length > 0 ? content.payload.const_data_ptr<uint8_t>() + message->begun : nullptr;
  if (options_.checksum) header.checksum = payload_checksum({data, static_cast<size_t>(header.piece_length)});
  header.head_length = message->first_begun ? 0 : static_cast<uint16_t>(content.head.size());

  OutgoingPiece& piece = outgoing_pieces_.emplace_back(OutgoingPiece{*this, message, message->peer, {}, header.piece_length, false, {}});
  piece.place = std::prev(outgoing_pieces_.end());
  piece.frame = frame_bytes(header, message->first_begun ? std::string() : content.head);
  message->first_begun = true;
  message->begun += header.piece_length;
  message->pieces_under_way += 1;
  if (limit_.is_on() && header.piece_length > 0) limit_.reserve(header.piece_length, given_to_link(message->accepted));
  hand_to_ucx(peer, piece, kMessageHandler, data);
}

void UcxProgress::send_control(Peer& peer, unsigned handler) {
  FrameHeader header;
  header.tag = peer.tag;
  header.source = options_.rank;
  header.incarnation = static_cast<uint16_t>(peers_[static_cast<size_t>(options_.rank)].info.incarnation);
  OutgoingPiece& piece =
      outgoing_pieces_.emplace_back(OutgoingPiece{*this, nullptr, peer.info.rank, frame_bytes(header, ""), 0, false, {}});
  piece.place = std::prev(outgoing_pieces_.end());
  peer.heartbeats_under_way += 1;
  hand_to_ucx(peer, piece, handler, nullptr);
}

void UcxProgress::hand_to_ucx(Peer& peer, OutgoingPiece& piece, unsigned handler, const uint8_t* data) {
  peer.pieces_under_way += 1;
  peer.bytes_under_way += piece.length;
  peer.last_sent = loop_began_;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.send = on_piece_sent;
  parameters.user_data = &piece;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  ucs_status_ptr_t request =
      ucx().ucp_am_send_nbx(peer.endpoint, handler, piece.frame.data(), piece.frame.size(), data, static_cast<size_t>(piece.length), &parameters);
  if (!UCS_PTR_IS_PTR(request)) piece_sent(piece, UCS_PTR_RAW_STATUS(request));
}

void UcxProgress::on_piece_sent(void* request, ucs_status_t status, void* argument) {
  OutgoingPiece& piece = *static_cast<OutgoingPiece*>(argument);
  ucx().ucp_request_free(request);
  piece.owner.piece_sent(piece, status);
}

void UcxProgress::piece_sent(OutgoingPiece& piece, ucs_status_t status) {
  Peer& peer = peers_[piece.peer];
  std::shared_ptr<OutgoingMessage> message = std::move(piece.message);
  if (piece.abandoned) {
    // It was sent to a lost process; this says nothing about the process that may have replaced it.
    abandoned_outgoing_.erase(piece.place);
    return;
  }
  peer.pieces_under_way -= 1;
  peer.bytes_under_way -= piece.length;
  outgoing_pieces_.erase(piece.place);  // destroys `piece`
  if (status != UCS_OK && !peer.lost) {
    mark_broken(peer, fmt::format("the connection to {} broke: {}", peer.info.to_string(), ucx_text(status)));
  }
  if (message == nullptr) {
    peer.heartbeats_under_way -= 1;
    return;
  }
  message->pieces_under_way -= 1;
  if (status != UCS_OK && message->error == nullptr) {
    const std::string& why = peer.lost ? peer.lost_because : peer.broken;
    message->error = std::make_exception_ptr(PeerError(peer.info.rank, "a message was not sent: " + why));
  }
  if (message->pieces_under_way == 0 && (message->error != nullptr || message->all_begun())) finish_outgoing(*message);
}

void UcxProgress::fail_waiting(Peer& peer, const std::exception_ptr& error) {
  for (const std::shared_ptr<OutgoingMessage>& message : peer.waiting.take_all()) {
    if (message->error == nullptr) message->error = error;
    // Else the end of its last piece under way does it: until then UCX uses the memory.
    if (message->pieces_under_way == 0) finish_outgoing(*message);
  }
}

void UcxProgress::finish_outgoing(OutgoingMessage& message) {
  int64_t bytes = message_bytes(message.message);
  if (message.error == nullptr) {
    messages_sent_.fetch_add(1, std::memory_order_relaxed);
    bytes_sent_.fetch_add(bytes, std::memory_order_relaxed);
    trace_.record(MessageDirection::Sent, message.peer, message.message.kind, bytes, loop_began_);
  }
  Transport::SentCallback on_sent = std::exchange(message.on_sent, nullptr);
  if (on_sent) on_sent(message.error);
  if (message.error == nullptr) message.message.payload.reset();
}

}  // namespace pistachio
