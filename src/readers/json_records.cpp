#include "readers/json_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "readers/csv_records.h"

namespace pistachio {

namespace {

// The commas and the last bracket of the array itself are between records; JsonSplitter has checked them. An element that is an array
// begins with its own bracket, so that the first bracket of the file must be known: the sniffer strips it (RowFile::first_byte).
const char* skip_between(JsonLayout layout, const char* at, const char* end) {
  while (at != end && (is_json_blank(*at) || (layout == JsonLayout::Array && (*at == ',' || *at == ']')))) ++at;
  return at;
}

}  // namespace

JsonRecords::JsonRecords(JsonLayout layout, const JsonKeys& keys, size_t slot_count, std::string_view text, const BlockPlace& place,
                         BadRecordPolicy& policy)
    : layout_(layout),
      keys_(keys),
      slot_count_(slot_count),
      text_(text),
      place_(place),
      policy_(policy),
      at_(text.data()),
      end_(text.data() + text.size()) {
  for (size_t i = 0; i < keys.names.size(); ++i) by_name_.emplace(keys.names[i], i);
  auto is_plain = [](char letter) { return letter != '"' && letter != '\\' && static_cast<unsigned char>(letter) >= 0x20; };
  for (const std::string& name : keys.names) is_plain_.push_back(!name.empty() && std::all_of(name.begin(), name.end(), is_plain));
  seen_.resize(keys.names.size());
}

bool JsonRecords::fill(FieldTable& table) {
  table.clear();
  while (!table.is_full()) {
    at_ = skip_between(layout_, at_, end_);
    if (at_ == end_) break;
    record_ = at_;
    stop_ = end_;
    // Blocks are cut behind lines: a record that went on to the next one could be cut.
    if (layout_ == JsonLayout::Lines) {
      const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
      if (newline != nullptr) stop_ = static_cast<const char*>(newline);
    }
    if (parse_record(table)) table.end_row();
  }
  return table.rows() > 0;
}

bool JsonRecords::report(std::string problem) {
  // Only lines are skipped: elsewhere, damaged text has no certain end (the sniffer refuses ignore_errors).
  if (layout_ == JsonLayout::Lines && !policy_.skips) {
    const JsonValue record = read_json_value(record_, stop_);
    if (record.end == nullptr && record.damage == nullptr)
      problem += "; the line ends within the record (format = 'unstructured' reads records over several lines)";
  }
  report_bad_record(policy_, place_, text_, static_cast<size_t>(record_ - text_.data()), "", problem);
  at_ = stop_;
  return false;
}

bool JsonRecords::parse_record(FieldTable& table) {
  table.start_row(static_cast<uint32_t>(record_ - text_.data()));
  for (size_t slot = 0; slot < slot_count_; ++slot) table.set(slot, FieldSpan{});
  if (keys_.are_objects) {
    if (*at_ != '{') return report("it is not a JSON object");
    if (!parse_members(table)) return false;
  } else {
    const JsonValue value = read_json_value(at_, stop_);
    if (value.end == nullptr) return report("it is not JSON");
    at_ = value.end;
    store(table, 0, value);
  }
  if (layout_ != JsonLayout::Lines) return true;
  if (skip_json_blanks(at_, stop_) != stop_) return report("text follows the record on its line");
  return true;
}

bool JsonRecords::parse_members(FieldTable& table) {
  next_key_ = 0;
  const char* at = skip_json_blanks(at_ + 1, stop_);
  if (at != stop_ && *at == '}') {
    at_ = at + 1;
    return true;
  }
  while (true) {
    if (at == stop_ || *at != '"') return report("it is not JSON: a name in quotes is missing");
    std::string_view name = expected_key(at);
    if (name.data() == nullptr) {
      const JsonValue key = read_json_value(at, stop_);
      if (key.end == nullptr) return report("it is not JSON: a quote is not closed");
      name = key.text;
      at = key.end;
      if (key.is_escaped) {
        unescaped_.clear();
        unescape_json(key.text, [&](std::string_view piece) { unescaped_ += piece; });
        name = unescaped_;
      }
    }
    at = skip_json_blanks(at, stop_);
    if (at == stop_ || *at != ':') return report("it is not JSON: a colon is missing");
    at = skip_json_blanks(at + 1, stop_);
    const JsonValue value = read_json_value(at, stop_);
    if (value.end == nullptr) return report("it is not JSON: a value is damaged");
    const size_t place = find_key(name);
    if (place != kNoSlot) {
      if (seen_[place] == record_) return report(fmt::format("its member {} occurs twice", quoted_value(name)));
      seen_[place] = record_;
      store(table, place, value);
    } else if (keys_.refuses_unknown) {
      return report(fmt::format("no column is for its member {}", quoted_value(name)));
    }
    at = skip_json_blanks(value.end, stop_);
    if (at == stop_ || (*at != ',' && *at != '}')) return report("it is not JSON: a comma or a bracket is missing");
    const bool ends = *at == '}';
    at = ends ? at + 1 : skip_json_blanks(at + 1, stop_);
    if (ends) break;
  }
  at_ = at;
  return true;
}

// The next name in the usual order, if it is at `at`; moves behind it. Else without data.
std::string_view JsonRecords::expected_key(const char*& at) const {
  if (next_key_ >= keys_.names.size() || !is_plain_[next_key_]) return {};
  const std::string& name = keys_.names[next_key_];
  const size_t length = name.size() + 2;
  if (static_cast<size_t>(stop_ - at) < length || at[length - 1] != '"' || std::memcmp(at + 1, name.data(), name.size()) != 0) return {};
  at += length;
  return name;
}

size_t JsonRecords::find_key(std::string_view key) {
  if (next_key_ < keys_.names.size() && (key.data() == keys_.names[next_key_].data() || keys_.names[next_key_] == key)) return next_key_++;
  const auto found = by_name_.find(key);
  if (found == by_name_.end()) return kNoSlot;
  next_key_ = found->second + 1;
  return found->second;
}

void JsonRecords::store(FieldTable& table, size_t place, const JsonValue& value) {
  const size_t slot = keys_.slots[place];
  if (slot == kNoSlot) return;
  if (value.kind == JsonKind::Null) return table.set(slot, FieldSpan{});
  const bool is_string = value.kind == JsonKind::String;
  table.set(slot, {static_cast<uint32_t>(value.text.data() - text_.data()), static_cast<uint32_t>(value.text.size()) |
                                                                                (is_string ? FieldSpan::kQuoted : 0) |
                                                                                (value.is_escaped ? FieldSpan::kEscaped : 0)});
}

}  // namespace pistachio
