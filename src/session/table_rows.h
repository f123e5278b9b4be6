// Rows of a result, retained to become those of a table in memory. Used by one statement of a session.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/table.h"
#include "engine/result_receiver.h"
#include "exec/core/held_chunks.h"

namespace pistachio {

class TableRows final : public ResultReceiver {
 public:
  // The rows are charged to the account.
  explicit TableRows(MemoryAccount account) : held(std::move(account)) {}
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk& chunk) override {
    if (chunk.rows() > 0) held.add(chunk);
  }
  void end() override {}

  TablePtr as_table(const std::string& name, std::vector<TableColumnInfo> columns) {
    return Table::of_chunks(name, std::move(columns), held.take_chunks(), take_memory());
  }

  // The table with these rows behind its own.
  TablePtr append_to(const Table& table) {
    std::vector<Chunk> chunks = table.chunks();
    for (const Chunk& chunk : held.chunks()) chunks.push_back(chunk);
    std::vector<std::shared_ptr<const Reservation>> memory = table.memory();
    for (std::shared_ptr<const Reservation>& part : take_memory()) memory.push_back(std::move(part));
    return Table::of_chunks(table.name(), table.columns(), std::move(chunks), std::move(memory));
  }

  HeldChunks held;

 private:
  std::vector<std::shared_ptr<const Reservation>> take_memory() {
    std::vector<std::shared_ptr<const Reservation>> shared;
    for (Reservation& part : held.take_memory()) shared.push_back(std::make_shared<const Reservation>(std::move(part)));
    return shared;
  }
};

}  // namespace pistachio
