#include "cluster/remote_error.h"

#include <fmt/format.h>

#include <new>
#include <optional>

#include "base/byte_stream.h"
#include "base/error.h"

namespace pistachio {

namespace {

RemoteError describe(const std::exception_ptr& error, int rank) {
  using Kind = RemoteError::Kind;
  RemoteError made;
  made.rank = rank;
  try {
    std::rethrow_exception(error);
  } catch (const UserError& user) {
    made.kind = Kind::User;
    made.position = user.position().value_or(-1);
    made.message = user.message();
  } catch (const DataError& data) {
    made.kind = Kind::Data;
    made.message = data.message();
  } catch (const OutOfMemory& memory) {
    made.kind = Kind::OutOfMemory;
    made.message = memory.message();
  } catch (const Cancelled& cancelled) {
    made.kind = Kind::Cancelled;
    made.message = cancelled.message();
  } catch (const PeerError& peer) {
    made.kind = Kind::Peer;
    made.message = peer.message();
    made.lost_rank = peer.rank();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& other) {
    made.message = other.what();
  } catch (...) {
    made.message = "an unknown error";
  }
  return made;
}

}  // namespace

RemoteError RemoteError::of(std::exception_ptr error, int rank) noexcept {
  try {
    return describe(error, rank);
  } catch (const std::bad_alloc&) {
    // Short enough for std::string to store it without allocating.
    return {.kind = Kind::OutOfMemory, .message = "out of memory", .position = -1, .rank = rank};
  }
}

std::string RemoteError::to_bytes() const {
  ByteWriter writer;
  writer.put(kind);
  writer.put(position);
  writer.put<int32_t>(lost_rank);
  writer.put_text(message);
  return writer.take();
}

RemoteError RemoteError::of_bytes(const std::string& bytes, int rank) {
  ByteReader reader(bytes);
  RemoteError error;
  error.kind = reader.get<Kind>();
  error.position = reader.get<int64_t>();
  error.lost_rank = reader.get<int32_t>();
  error.message = reader.get_text();
  error.rank = rank;
  return error;
}

void RemoteError::raise() const {
  std::string text = rank == 0 ? message : fmt::format("{} (on rank {})", message, rank);
  switch (kind) {
    case Kind::User: throw UserError(text, position < 0 ? std::nullopt : std::optional(position));
    case Kind::Data: throw DataError(text, {});
    case Kind::OutOfMemory: throw OutOfMemory(text);
    case Kind::Cancelled: throw Cancelled(text);
    case Kind::Peer: throw PeerError(message);
    case Kind::Internal: break;
  }
  throw InternalError(text);
}

}  // namespace pistachio
