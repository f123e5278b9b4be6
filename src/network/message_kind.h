// Kinds of messages between ranks. Plain numbers, so that a rank can report one it does not know.
#pragma once

#include <cstdint>

namespace pistachio {

enum class MessageKind : uint16_t {
  // Exchanges (exchange_hub.h). The head is ExchangeHead; the payload of Rows is a packed chunk. After the head: for Rows, the numbers of
  // the dictionaries it refers to; for Dictionary, the retired ones; for End, the number of dictionaries.
  Rows = 1,
  Credit = 2,          // the receiver has consumed this many bytes
  End = 3,             // the sender is done; carries the number of its row messages
  Enough = 4,          // the receiver needs no more rows
  Note = 5,            // a rank's contribution to an all-gather (control_exchange.h)
  CompressedRows = 6,  // like Rows, with a compressed payload (block_compression.h)
  Dictionary = 7,      // a dictionary that row messages refer to by number (exchange_dictionaries.h)
  CompressedDictionary = 8,
  AskUnit = 9,    // the sender has read its share of a scan and asks for more (scan_shares.h)
  GiveUnit = 10,  // the answer
  // Queries (cluster/rank_service.h).
  Plan = 16,      // run this plan
  Finished = 17,  // a rank's part of a query has ended, successfully or not
  Cancel = 18,    // stop
  // Membership changes (cluster/membership.h).
  Replaced = 19,  // a lost rank was restarted; carries its new card
  Met = 20,       // the sender has connected to the restarted rank, or is that rank
  AskMemory = 21,
  ReportMemory = 22,
  GivenUp = 23,  // rank 0 has dropped the receiver, because another rank cannot reach it
};

}  // namespace pistachio
