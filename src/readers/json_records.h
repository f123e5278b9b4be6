// Parses whole JSON records of a block into the fields of the wanted columns: objects, whose members are columns, or other values, which
// are a single column. One task at a time.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "readers/bad_records.h"
#include "readers/csv_records.h"
#include "readers/field_table.h"
#include "readers/json_layout.h"
#include "readers/json_text.h"

namespace pistachio {

struct JsonKeys {
  bool are_objects = true;         // else the record itself is the value of slot `whole`
  bool refuses_unknown = true;     // a member that no column is for makes the record bad
  std::vector<std::string> names;  // of all members that are columns, in the order of the sample
  std::vector<size_t> slots;       // of each, or kNoSlot
};

class JsonRecords {
 public:
  JsonRecords(JsonLayout layout, const JsonKeys& keys, size_t slot_count, std::string_view text, const BlockPlace& place,
              BadRecordPolicy& policy);

  // Fills the table until it is full or the text ends; false if there was no record left.
  bool fill(FieldTable& table);

 private:
  bool parse_record(FieldTable& table);
  bool parse_members(FieldTable& table);
  void store(FieldTable& table, size_t place, const JsonValue& value);
  std::string_view expected_key(const char*& at) const;
  size_t find_key(std::string_view key);
  bool report(std::string problem);

  const JsonLayout layout_;
  const JsonKeys& keys_;
  const size_t slot_count_;
  const std::string_view text_;
  const BlockPlace& place_;
  BadRecordPolicy& policy_;
  const char* at_;
  const char* const end_;
  const char* record_ = nullptr;
  const char* stop_ = nullptr;  // where the record must have ended: its line, or the text
  size_t next_key_ = 0;         // records usually have the same order of members
  std::map<std::string_view, size_t> by_name_;
  std::vector<const char*> seen_;  // of each name, the last record that has it
  std::vector<bool> is_plain_;     // names that are written without escapes
  std::string unescaped_;
};

}  // namespace pistachio
