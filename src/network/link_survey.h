// Measured bandwidth of the job's links and the message size they need. Any rank may ask; each link is measured once, by the rank at its start, and
// never two at the same time. Ranks on the same pair of hosts share a link, so one pair represents all: per host its internal link (if it has two
// ranks) and the link to the next host. Every rank has a LinkSurvey, fed by the transport's receiver.
// Threads: one, started by the first measurement; measure() blocks its caller; take() and on_peer_lost() run on the transport's thread. Memory: that of
// LinkCalibrator.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/cancel_token.h"
#include "network/link_calibration.h"
#include "network/transport.h"

namespace pistachio {

struct LinkSurveyOptions {
  std::vector<int> hosts;                      // host index of each rank; empty: nothing is measured
  std::function<std::string(int rank)> route;  // transport that messages to a rank use; may be empty
  int64_t largest_message = int64_t{16} << 20;
  std::chrono::milliseconds timeout{50};  // as in LinkCalibrator::measure
};

struct MeasuredLink {
  int from = 0;
  int to = 0;
  std::string route;
  std::vector<LinkSpeed> speeds;
};

// The pairs of ranks to measure, in order.
std::vector<std::pair<int, int>> links_between(const std::vector<int>& hosts);

// Message size at which every link reaches its bandwidth; 0 without links.
int64_t message_bytes_for(const std::vector<MeasuredLink>& links);

// Peak bandwidth of the slowest link, in bytes per second; 0 without links.
double slowest_speed(const std::vector<MeasuredLink>& links);

class LinkSurvey {
 public:
  static constexpr uint16_t kMeasureKind = 102;   // from, to: measure this link
  static constexpr uint16_t kMeasuredKind = 103;  // the answer

  LinkSurvey(Transport& transport, LinkSurveyOptions options);
  ~LinkSurvey() { stop(); }

  // Aborts a running measurement; call before the transport stops.
  void stop();

  // All links, measured now if they are unknown: about 50 ms per link. Throws PeerError, Cancelled, UserError.
  std::vector<MeasuredLink> measure(const CancelToken& token);
  // The host index of each rank.
  const std::vector<int>& hosts() const { return options_.hosts; }
  // The links measured so far.
  std::vector<MeasuredLink> known() const;

  // Whether the message belonged to a measurement.
  bool take(int source, Message& message);
  void on_peer_lost(int peer, const std::string& why);
  void on_peer_replaced(const RankInfo& peer);

 private:
  struct Request {
    int asker = 0;
    int64_t number = 0;
    int to = 0;
  };
  struct Answer {
    std::string error;  // empty: none
    MeasuredLink link;
  };

  MeasuredLink ask(int from, int to, const CancelToken& token);
  void note_request(int source, const std::string& head);
  void note_answer(int source, const std::string& head);
  void serve();
  Answer measure_from_here(int to);

  Transport& transport_;
  const LinkSurveyOptions options_;
  LinkCalibrator calibrator_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  // Guarded by mutex_.
  std::map<std::pair<int, int>, MeasuredLink> known_;
  std::deque<Request> requests_;
  std::map<int64_t, std::optional<Answer>> asked_;  // by number; answers without a waiting caller are dropped
  PeerLosses losses_;
  int64_t next_number_ = 1;
  bool is_stopping_ = false;
};

}  // namespace pistachio
