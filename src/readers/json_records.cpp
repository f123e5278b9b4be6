#include "readers/json_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "readers/csv_records.h"

namespace pistachio {

namespace {

// The brackets and commas of the array itself are between records. An element that is an array begins with its own bracket, so that the
// first bracket of the file must be known: the sniffer strips it (RowFile::first_byte).
const char* skip_between(JsonLayout layout, const char* at, const char* end) {
  while (at != end && (is_json_blank(*at) || (layout == JsonLayout::Array && (*at == ',' || *at == ']')))) ++at;
  return at;
}

}  // namespace

size_t end_of_json_records(JsonLayout layout, std::string_view text) {
  if (layout == JsonLayout::Lines) {
    const size_t place = text.rfind('\n');
    return place == std::string_view::npos ? 0 : place + 1;
  }
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* last = begin;
  while (true) {
    const char* at = skip_between(layout, last, end);
    if (at == end) return static_cast<size_t>(end - begin);
    const JsonValue value = read_json_value(at, end);
    // A number at the end of the text may go on; one that is no JSON is an error of the parser.
    if (value.end == nullptr || value.end == end) {
      const bool is_cut = value.kind == JsonKind::String || value.kind == JsonKind::Nested || value.text.end() == end;
      if (value.end == end && (value.kind == JsonKind::String || value.kind == JsonKind::Nested)) return text.size();
      if (is_cut) return static_cast<size_t>(last - begin);
      return text.size();
    }
    last = value.end;
  }
}

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
  for (const std::string& name : keys.names) is_plain_.push_back(!name.empty() && name.find_first_of("\"\\") == std::string::npos);
}

bool JsonRecords::fill(FieldTable& table) {
  table.clear();
  while (!table.is_full()) {
    at_ = skip_between(layout_, at_, end_);
    if (at_ == end_) break;
    record_ = at_;
    if (parse_record(table)) table.end_row();
  }
  return table.rows() > 0;
}

bool JsonRecords::report(const std::string& problem) {
  report_bad_record(policy_, place_, text_, static_cast<size_t>(record_ - text_.data()), "", problem);
  skip_bad_record();
  return false;
}

// Damaged text has no certain end; the next line is the best guess.
void JsonRecords::skip_bad_record() {
  const JsonValue whole = read_json_value(record_, end_);
  if (layout_ != JsonLayout::Lines && whole.end != nullptr) {
    at_ = whole.end;
    return;
  }
  const void* found = std::memchr(record_, '\n', static_cast<size_t>(end_ - record_));
  at_ = found == nullptr ? end_ : static_cast<const char*>(found) + 1;
}

bool JsonRecords::parse_record(FieldTable& table) {
  table.start_row(static_cast<uint32_t>(record_ - text_.data()));
  for (size_t slot = 0; slot < slot_count_; ++slot) table.set(slot, FieldSpan{});
  if (keys_.are_objects) {
    if (*at_ != '{') return report("it is not a JSON object");
    if (!parse_members(table)) return false;
  } else {
    const JsonValue value = read_json_value(at_, end_);
    if (value.end == nullptr) return report("it is not JSON");
    at_ = value.end;
    store(table, "", value);
  }
  if (layout_ != JsonLayout::Lines) return true;
  const char* stop = at_;
  while (stop != end_ && is_json_blank(*stop) && *stop != '\n') ++stop;
  if (stop != end_ && *stop != '\n') return report("text follows the record on its line");
  return true;
}

bool JsonRecords::parse_members(FieldTable& table) {
  next_key_ = 0;
  const char* at = skip_json_blanks(at_ + 1, end_);
  if (at != end_ && *at == '}') {
    at_ = at + 1;
    return true;
  }
  while (true) {
    if (at == end_ || *at != '"') return report("it is not JSON: a name in quotes is missing");
    std::string_view name = expected_key(at);
    if (name.data() == nullptr) {
      const JsonValue key = read_json_value(at, end_);
      if (key.end == nullptr) return report("it is not JSON: a quote is not closed");
      name = key.text;
      at = key.end;
      if (key.is_escaped) {
        unescaped_.clear();
        unescape_json(key.text, [&](std::string_view piece) { unescaped_ += piece; });
        name = unescaped_;
      }
    }
    at = skip_json_blanks(at, end_);
    if (at == end_ || *at != ':') return report("it is not JSON: a colon is missing");
    at = skip_json_blanks(at + 1, end_);
    const JsonValue value = read_json_value(at, end_);
    if (value.end == nullptr) return report("it is not JSON: a value is damaged");
    if (!store(table, name, value)) return report(fmt::format("no column is for its member {}", quoted_value(name)));
    at = skip_json_blanks(value.end, end_);
    if (at == end_ || (*at != ',' && *at != '}')) return report("it is not JSON: a comma or a bracket is missing");
    const bool ends = *at == '}';
    at = ends ? at + 1 : skip_json_blanks(at + 1, end_);
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
  if (static_cast<size_t>(end_ - at) < length || at[length - 1] != '"' || std::memcmp(at + 1, name.data(), name.size()) != 0) return {};
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

bool JsonRecords::store(FieldTable& table, std::string_view key, const JsonValue& value) {
  const size_t place = keys_.are_objects ? find_key(key) : 0;
  if (place == kNoSlot) return !keys_.refuses_unknown;
  const size_t slot = keys_.slots[place];
  if (slot == kNoSlot) return true;
  if (value.kind == JsonKind::Null) {
    table.set(slot, FieldSpan{});
    return true;
  }
  const bool is_string = value.kind == JsonKind::String;
  table.set(slot, {static_cast<uint32_t>(value.text.data() - text_.data()), static_cast<uint32_t>(value.text.size()) |
                                                                                (is_string ? FieldSpan::kQuoted : 0) |
                                                                                (value.is_escaped ? FieldSpan::kEscaped : 0)});
  return true;
}

}  // namespace pistachio
