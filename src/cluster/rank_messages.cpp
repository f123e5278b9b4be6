#include "cluster/rank_messages.h"

#include "base/error.h"

namespace pistachio {

namespace {

enum class Outcome : uint8_t { Success, Failure };

}  // namespace

void put_settings(ByteWriter& writer, const Settings& settings) {
  writer.put<uint64_t>(setting_descriptions().size());
  for (const SettingDescription& setting : setting_descriptions()) {
    writer.put_text(setting.name);
    writer.put_text(setting.show(settings));
  }
}

Settings get_settings(ByteReader& reader) {
  Settings settings;
  size_t count = reader.get_count();
  for (size_t i = 0; i < count; ++i) {
    std::string name = reader.get_text();
    assign_setting(settings, name, reader.get_text());
  }
  return settings;
}

void put_tuning(ByteWriter& writer, const ExchangeTuning& tuning) {
  writer.put(tuning.limits.window_bytes);
  writer.put(tuning.limits.outgoing_bytes);
  writer.put(tuning.limits.compress);
  writer.put(tuning.buffered_bytes);
}

ExchangeTuning get_tuning(ByteReader& reader) {
  ExchangeTuning tuning;
  tuning.limits.window_bytes = reader.get<int64_t>();
  tuning.limits.outgoing_bytes = reader.get<int64_t>();
  tuning.limits.compress = reader.get<RowCompression>();
  tuning.buffered_bytes = reader.get<int64_t>();
  if (tuning.limits.compress > RowCompression::Everywhere) throw PeerError("a plan came with an unknown kind of compression");
  if (tuning.limits.window_bytes <= 0 || tuning.limits.outgoing_bytes <= 0 || tuning.buffered_bytes < 0)
    throw PeerError("a plan arrived with invalid exchange sizes");
  return tuning;
}

std::string pack_rank(const RankInfo& info) {
  ByteWriter writer;
  for (int number : {info.rank, info.incarnation, info.host_index, info.machine_index, info.cores}) writer.put<int32_t>(number);
  writer.put(info.host_key);
  writer.put(info.pid);
  writer.put_text(info.host);
  writer.put_text(info.address);
  return writer.take();
}

RankInfo unpack_rank(const std::string& bytes) {
  ByteReader reader(bytes);
  RankInfo info;
  for (int* number : {&info.rank, &info.incarnation, &info.host_index, &info.machine_index, &info.cores}) *number = reader.get<int32_t>();
  info.host_key = reader.get<uint64_t>();
  info.pid = reader.get<int64_t>();
  info.host = reader.get_text();
  info.address = reader.get_text();
  return info;
}

std::string pack_incarnation(int incarnation) {
  ByteWriter writer;
  writer.put<int32_t>(incarnation);
  return writer.take();
}

int unpack_incarnation(const std::string& bytes) {
  return ByteReader(bytes).get<int32_t>();
}

std::string PartResult::to_bytes() const {
  ByteWriter writer;
  writer.put(error ? Outcome::Failure : Outcome::Success);
  if (error) return writer.take() + error->to_bytes();
  put_profile(writer, profile);
  return writer.take();
}

PartResult PartResult::of_bytes(const std::string& bytes, int rank) {
  PartResult result;
  try {
    ByteReader reader(bytes);
    if (reader.get<Outcome>() == Outcome::Success) {
      result.profile = get_profile(reader);
    } else {
      result.error = RemoteError::of_bytes(bytes.substr(sizeof(Outcome)), rank);
    }
  } catch (const PeerError& damaged) {
    result.error = RemoteError{.kind = RemoteError::Kind::Internal, .message = damaged.message(), .position = -1, .rank = rank};
  }
  return result;
}

}  // namespace pistachio
