// Bodies of the messages by which ranks run queries together: settings, tuning, outcome of a rank's part, identity.
#pragma once

#include <optional>
#include <string>

#include "base/byte_stream.h"
#include "cluster/exchange_tuning.h"
#include "cluster/remote_error.h"
#include "config/settings.h"
#include "network/rank_info.h"
#include "profile/query_profile.h"

namespace pistachio {

void put_settings(ByteWriter& writer, const Settings& settings);
// Throws PeerError, and UserError for an unknown setting.
Settings get_settings(ByteReader& reader);

void put_tuning(ByteWriter& writer, const ExchangeTuning& tuning);
// Throws PeerError.
ExchangeTuning get_tuning(ByteReader& reader);

std::string pack_rank(const RankInfo& info);
// Throws PeerError.
RankInfo unpack_rank(const std::string& bytes);

std::string pack_incarnation(int incarnation);
// Throws PeerError.
int unpack_incarnation(const std::string& bytes);

// How a rank's part of a query ended.
struct PartResult {
  std::optional<RemoteError> error;
  RankProfile profile;

  std::string to_bytes() const;
  // Damaged bytes become an error of that rank: it has ended in any case.
  static PartResult of_bytes(const std::string& bytes, int rank);
};

}  // namespace pistachio
