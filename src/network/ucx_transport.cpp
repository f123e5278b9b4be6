#include "network/ucx_transport.h"

#include "base/check.h"
#include "network/message_limits.h"
#include "network/ucx_progress.h"

namespace pistachio {

UcxTransport::UcxTransport(UcxOptions options) : progress_(std::make_unique<UcxProgress>(std::move(options))) {
  address_ = progress_->worker().address();
}

UcxTransport::~UcxTransport() = default;

void UcxTransport::connect(const std::vector<RankInfo>& job, const JobSecret& key, const std::vector<int>& lost) {
  progress_->connect(job, key, lost);
}

int UcxTransport::rank() const {
  return progress_->options().rank;
}

int UcxTransport::ranks() const {
  return progress_->options().ranks;
}

void UcxTransport::start(MessageReceiver& receiver) {
  progress_->start(receiver);
}

void UcxTransport::stop() {
  progress_->stop();
}

void UcxTransport::send(int peer, Message message, SentCallback on_sent) {
  check_message(message, peer, ranks());
  progress_->send(peer, std::move(message), std::move(on_sent));
}

void UcxTransport::replace(RankInfo peer) {
  ENSURE(peer.rank >= 0 && peer.rank < ranks() && peer.rank != rank(), "rank {} of {} cannot be replaced here", peer.rank, ranks());
  progress_->replace(std::move(peer));
}

void UcxTransport::cut() {
  progress_->cut();
}

TransportStatistics UcxTransport::statistics() const {
  return progress_->statistics();
}

std::string UcxTransport::route(int rank) const {
  return progress_->route(rank);
}

std::string UcxTransport::recent_messages() const {
  return progress_->trace().to_text();
}

}  // namespace pistachio
