#include "network/ucx_sending.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "kernels/ops/tensor_functions.h"
#include "network/frame.h"
#include "network/link_pacing.h"
#include "network/message_limits.h"
#include "network/ucx_handlers.h"

namespace pistachio {
namespace {

// Limit in flight to one peer: enough to hide the latency of the rendezvous protocol, little enough for heartbeats to pass in time.
constexpr int64_t kBytesUnderWay = int64_t{32} << 20;
constexpr int kPiecesUnderWay = 256;
constexpr int64_t kMinPiece = 16 << 10;

}  // namespace

bool OutgoingMessage::all_begun() const {
  return first_begun && begun == payload_bytes(message);
}

UcxSending::UcxSending(const UcxOptions& options, const UcxLoopState& loop, UcxPeers& peers, OutgoingCompletion& completion,
                       IncomingDelivery& incoming)
    : options_(options), loop_(loop), peers_(peers), completion_(completion), incoming_(incoming), limit_(options.link_bandwidth_limit) {}

void UcxSending::add_peers(const JobSecret& key) {
  for (UcxPeer& peer : peers_)
    outboxes_.push_back({peer, frame_tag(key, options_.rank, peer.info.rank), limit_.is_on() && peers_.crosses_network(peer), {}});
}

// Under a bandwidth limit a piece is what passes in 10 ms, so that bytes flow evenly.
int64_t UcxSending::piece_limit(const Outbox& outbox, const OutgoingMessage& message) const {
  int64_t head = message.first_begun ? 0 : static_cast<int64_t>(message.message.head.size());
  int64_t most = std::min(options_.piece_bytes, outbox.peer.largest_frame - static_cast<int64_t>(sizeof(FrameHeader)) - head);
  if (!outbox.is_limited) return most;
  return std::clamp(limit_.bytes_per_second() / 100, std::min(kMinPiece, most), most);
}

void UcxSending::accept(std::shared_ptr<OutgoingMessage> message) {
  Outbox& outbox = outboxes_[message->peer];
  if (outbox.peer.lost) return completion_.fail(*message, outbox.peer.not_sent_error());
  if (message->peer == options_.rank) return deliver_to_self(*message);
  message->number = next_number_++;
  if (outbox.is_limited) message->accepted = Clock::now();
  auto& waiting = outbox.waiting.queue_for(payload_bytes(message->message));
  auto before = std::find_if(waiting.rbegin(), waiting.rend(), [&](const std::shared_ptr<OutgoingMessage>& other) {
    return other->message.urgency >= message->message.urgency;
  });
  waiting.insert(before.base(), std::move(message));
}

void UcxSending::deliver_to_self(OutgoingMessage& message) {
  Message copy{message.message.kind, message.message.head, {}};
  int64_t bytes = payload_bytes(message.message);
  try {
    if (message.message.payload.defined()) copy.payload = at::empty({bytes}, at::kByte);
    if (bytes > 0) std::memcpy(copy.payload.mutable_data_ptr(), message.message.payload.const_data_ptr(), static_cast<size_t>(bytes));
  } catch (...) {
    message.error = std::current_exception();
  }
  bool copied = message.error == nullptr;
  completion_.finish(message, loop_.began);
  if (copied) incoming_.add_message(options_.rank, std::move(copy), loop_.began);
}

bool UcxSending::begin_pieces() {
  bool any = false;
  holding_back_ = false;
  for (size_t idle = 0; idle < outboxes_.size();) {
    Outbox& outbox = outboxes_[next_outbox_];
    next_outbox_ = (next_outbox_ + 1) % outboxes_.size();
    // One piece per peer and turn, so that no peer waits for another's backlog.
    bool begun = begin_next_piece(outbox);
    idle = begun ? 0 : idle + 1;
    any |= begun;
  }
  return any;
}

bool UcxSending::begin_next_piece(Outbox& outbox) {
  if (loop_.is_cut || !outbox.peer.is_sound() || outbox.waiting.empty()) return false;
  if (outbox.pieces_under_way >= kPiecesUnderWay || outbox.bytes_under_way >= kBytesUnderWay) return false;
  std::shared_ptr<OutgoingMessage> message = outbox.waiting.front();
  if (outbox.is_limited && payload_bytes(message->message) > 0 && limit_.free_at() > Clock::now()) {
    holding_back_ = true;
    return false;
  }
  bool is_last = payload_bytes(message->message) - message->begun <= piece_limit(outbox, *message);
  outbox.waiting.end_turn(is_last);
  begin_piece(outbox, message);
  return true;
}

void UcxSending::begin_piece(Outbox& outbox, const std::shared_ptr<OutgoingMessage>& message) {
  const Message& content = message->message;
  FrameHeader header;
  header.kind = content.kind;
  header.tag = outbox.tag;
  header.message = message->number;
  header.payload_length = content.payload.defined() ? content.payload.numel() : -1;
  header.piece_offset = message->begun;
  header.piece_length = std::min(payload_bytes(content) - message->begun, piece_limit(outbox, *message));
  header.source = options_.rank;
  header.incarnation = static_cast<uint16_t>(peers_.self().info.incarnation);
  const uint8_t* data = header.piece_length > 0 ? content.payload.const_data_ptr<uint8_t>() + message->begun : nullptr;
  if (options_.checksum) header.checksum = payload_checksum({data, static_cast<size_t>(header.piece_length)});
  header.head_length = message->first_begun ? 0 : static_cast<uint16_t>(content.head.size());

  Piece& piece = pieces_.emplace_back(Piece{*this, message, message->peer, {}, header.piece_length, false, {}});
  piece.place = std::prev(pieces_.end());
  piece.frame = frame_bytes(header, message->first_begun ? std::string() : content.head);
  message->first_begun = true;
  message->begun += header.piece_length;
  message->pieces_under_way += 1;
  if (outbox.is_limited && header.piece_length > 0) limit_.reserve(header.piece_length, given_to_link(message->accepted));
  hand_to_ucx(outbox, piece, kMessageHandler, data);
}

void UcxSending::send_heartbeat(int peer) {
  if (outboxes_[peer].controls_under_way == 0) send_control(outboxes_[peer], kHeartbeatHandler);
}

void UcxSending::send_goodbye(int peer) {
  send_control(outboxes_[peer], kGoodbyeHandler);
}

void UcxSending::send_control(Outbox& outbox, unsigned handler) {
  if (loop_.is_cut) return;
  FrameHeader header;
  header.tag = outbox.tag;
  header.source = options_.rank;
  header.incarnation = static_cast<uint16_t>(peers_.self().info.incarnation);
  Piece& piece = pieces_.emplace_back(Piece{*this, nullptr, outbox.peer.info.rank, frame_bytes(header, ""), 0, false, {}});
  piece.place = std::prev(pieces_.end());
  outbox.controls_under_way += 1;
  hand_to_ucx(outbox, piece, handler, nullptr);
}

void UcxSending::hand_to_ucx(Outbox& outbox, Piece& piece, unsigned handler, const uint8_t* data) {
  outbox.pieces_under_way += 1;
  outbox.bytes_under_way += piece.length;
  outbox.peer.last_sent = loop_.began;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.send = on_piece_sent;
  parameters.user_data = &piece;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  ucs_status_ptr_t request = ucx().ucp_am_send_nbx(outbox.peer.endpoint, handler, piece.frame.data(), piece.frame.size(), data,
                                                   static_cast<size_t>(piece.length), &parameters);
  if (!UCS_PTR_IS_PTR(request)) piece_sent(piece, UCS_PTR_RAW_STATUS(request));
}

void UcxSending::on_piece_sent(void* request, ucs_status_t status, void* argument) {
  Piece& piece = *static_cast<Piece*>(argument);
  ucx().ucp_request_free(request);
  piece.owner.piece_sent(piece, status);
}

void UcxSending::piece_sent(Piece& piece, ucs_status_t status) {
  Outbox& outbox = outboxes_[piece.peer];
  std::shared_ptr<OutgoingMessage> message = std::move(piece.message);
  if (piece.abandoned) {
    // It was sent to a lost process; this says nothing about the process that may have replaced it.
    abandoned_.erase(piece.place);
    return;
  }
  outbox.pieces_under_way -= 1;
  outbox.bytes_under_way -= piece.length;
  pieces_.erase(piece.place);  // destroys `piece`
  if (status != UCS_OK) outbox.peer.mark_connection_broken(status);
  if (message == nullptr) {
    outbox.controls_under_way -= 1;
    return;
  }
  message->pieces_under_way -= 1;
  if (status != UCS_OK && message->error == nullptr) message->error = outbox.peer.not_sent_error();
  if (message->pieces_under_way == 0 && (message->error != nullptr || message->all_begun())) completion_.finish(*message, loop_.began);
}

void UcxSending::abandon_pieces(int peer, const std::exception_ptr& error) {
  for (auto next = pieces_.begin(); next != pieces_.end();) {
    auto piece = next++;
    if (piece->peer != peer) continue;
    piece->abandoned = true;
    abandoned_.splice(abandoned_.end(), pieces_, piece);
    if (piece->message != nullptr) completion_.fail(*piece->message, error);
  }
}

void UcxSending::fail_waiting(int peer, const std::exception_ptr& error) {
  for (const std::shared_ptr<OutgoingMessage>& message : outboxes_[peer].waiting.take_all()) {
    if (message->error == nullptr) message->error = error;
    // Else the end of its last piece under way does it: until then UCX uses the memory.
    if (message->pieces_under_way == 0) completion_.finish(*message, loop_.began);
  }
}

void UcxSending::forget_pieces(int peer) {
  Outbox& outbox = outboxes_[peer];
  outbox.waiting.reset_turn();
  outbox.pieces_under_way = 0;
  outbox.bytes_under_way = 0;
  outbox.controls_under_way = 0;
}

}  // namespace pistachio
