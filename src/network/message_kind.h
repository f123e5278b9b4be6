// Kinds of messages between ranks. Plain numbers, so that a rank can report one it does not know.
#pragma once

#include <cstdint>

namespace pistachio {

enum class MessageKind : uint16_t {
  // Of exchanges (exchange_hub.h). The head is ExchangeHead, the payload of Rows a packed chunk; behind the head of Rows are the numbers of
  // the dictionaries it refers to, behind that of a dictionary those that are retired, behind that of End the number of dictionaries.
  Rows = 1,
  Credit = 2,          // the receiver has worked up so many bytes
  End = 3,             // the sender has nothing more; says how many messages of rows it has sent
  Enough = 4,          // the receiver wants nothing more
  Note = 5,            // what a rank tells all others about its rows (control_exchange.h)
  CompressedRows = 6,  // as Rows, the payload compressed (block_compression.h)
  Dictionary = 7,      // one that messages of rows refer to by its number (travelling_dictionaries.h)
  CompressedDictionary = 8,
  AskUnit = 9,    // the sender has read its share of a scan: is there something left to read (scan_shares.h)
  TellUnit = 10,  // the answer
  // Of queries (cluster/rank_service.h).
  Plan = 16,      // run this
  Finished = 17,  // a rank's part of a query has ended, well or not
  Cancel = 18,    // stop
  // Of ranks that come and go (cluster/membership.h).
  Replaced = 19,  // a lost rank was started again: this is its new card
  Met = 20,       // the sender has taken to it, or is it
  AskMemory = 21,
  TellMemory = 22,
  GivenUp = 23,  // the first rank does without the receiver: another rank does not reach it
};

}  // namespace pistachio
