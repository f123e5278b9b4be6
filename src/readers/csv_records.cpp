#include "readers/csv_records.h"

#include <fmt/format.h>

#include <cstring>

#include "readers/csv_splitter.h"

namespace pistachio {

CsvRecords::CsvRecords(const TextDialect& dialect, const std::vector<size_t>& slots, std::string_view text, const BlockPlace& place,
                       BadRecordPolicy& policy)
    : dialect_(dialect), slots_(slots), text_(text), place_(place), policy_(policy), at_(text.data()), end_(text.data() + text.size()) {
  stops_[static_cast<unsigned char>(dialect.delimiter)] = true;
  stops_[static_cast<unsigned char>(dialect.line_end)] = true;
}

bool CsvRecords::fill(FieldTable& table) {
  table.clear();
  while (at_ != end_ && !table.is_full()) {
    record_ = at_;
    if (skip_blank_or_comment()) continue;
    if (parse_record(table)) table.end_row();
  }
  return table.rows() > 0;
}

// Empty lines are records of files with a single column only.
bool CsvRecords::skip_blank_or_comment() {
  if (dialect_.comment != 0 && *at_ == dialect_.comment) {
    at_ = end_of_line(at_);
    return true;
  }
  if (slots_.size() == 1) return false;
  const char* next = at_;
  if (*next == '\r' && next + 1 != end_) ++next;
  if (*next != dialect_.line_end) return false;
  at_ = next + 1;
  return true;
}

const char* CsvRecords::end_of_line(const char* from) const {
  const void* found = std::memchr(from, dialect_.line_end, static_cast<size_t>(end_ - from));
  return found == nullptr ? end_ : static_cast<const char*>(found) + 1;
}

bool CsvRecords::report(const std::string& problem) {
  report_bad_record(policy_, place_, text_, static_cast<size_t>(record_ - text_.data()), "", problem);
  return false;
}

const char* CsvRecords::parse_quoted(const char* opening, FieldSpan& span) {
  bool is_escaped = false;
  const char* closing = find_closing_quote(dialect_, opening + 1, end_, is_escaped);
  if (closing == end_) {
    report("a quote is not closed");
    at_ = end_;
    return nullptr;
  }
  span.begin = static_cast<uint32_t>(opening + 1 - text_.data());
  span.marked_size = static_cast<uint32_t>(closing - opening - 1) | FieldSpan::kQuoted | (is_escaped ? FieldSpan::kEscaped : 0);
  const char* stop = closing + 1;
  while (stop != end_ && *stop == ' ' && dialect_.delimiter != ' ') ++stop;
  if (stop != end_ && *stop == '\r' && dialect_.line_end == '\n' && (stop + 1 == end_ || stop[1] == '\n')) ++stop;
  if (stop == end_ || stops_[static_cast<unsigned char>(*stop)]) return stop;
  report("text follows a closing quote");
  at_ = end_of_line(stop);
  return nullptr;
}

bool CsvRecords::parse_record(FieldTable& table) {
  const char* const base = text_.data();
  table.start_row(static_cast<uint32_t>(record_ - base));
  const size_t fields = slots_.size();
  size_t field = 0;
  const char* begin = at_;
  while (true) {
    FieldSpan span;
    const char* stop = begin;
    const char* first = begin;
    if (dialect_.quote != 0 && dialect_.delimiter != ' ') {
      while (first != end_ && *first == ' ') ++first;
    }
    if (first != end_ && *first == dialect_.quote && dialect_.quote != 0) {
      stop = parse_quoted(first, span);
      if (stop == nullptr) return false;
    } else {
      while (stop != end_ && !stops_[static_cast<unsigned char>(*stop)]) ++stop;
      const char* last = stop;
      if (last != begin && last[-1] == '\r' && dialect_.line_end == '\n' && (stop == end_ || *stop == '\n')) --last;
      span.begin = static_cast<uint32_t>(begin - base);
      span.marked_size = static_cast<uint32_t>(last - begin);
    }
    if (field < fields && slots_[field] != kNoSlot) table.set(slots_[field], span);
    ++field;
    const bool ends = stop == end_ || *stop == dialect_.line_end;
    begin = stop == end_ ? stop : stop + 1;
    if (ends) break;
  }
  at_ = begin;
  if (field == fields) return true;
  if (field < fields && dialect_.pads_nulls) {
    for (; field < fields; ++field) {
      if (slots_[field] != kNoSlot) table.set(slots_[field], FieldSpan{});
    }
    return true;
  }
  return report(fmt::format("it has {} value{}; {} {} expected", field, field == 1 ? "" : "s", fields, fields == 1 ? "is" : "are"));
}

size_t read_csv_record(const TextDialect& dialect, std::string_view text, CsvRecordText& record) {
  record = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  auto ends_field = [&](char byte) { return byte == dialect.delimiter || byte == dialect.line_end; };
  record.is_blank = at == end || *at == dialect.line_end || (*at == '\r' && at + 1 != end && at[1] == dialect.line_end);
  while (true) {
    const char* first = at;
    while (first != end && *first == ' ' && dialect.delimiter != ' ') ++first;
    std::string value;
    const bool quoted = dialect.quote != 0 && first != end && *first == dialect.quote;
    const char* stop = at;
    if (quoted) {
      bool is_escaped = false;
      const char* closing = find_closing_quote(dialect, first + 1, end, is_escaped);
      unescape_csv(dialect, std::string_view(first + 1, static_cast<size_t>(closing - first - 1)),
                   [&](std::string_view piece) { value += piece; });
      record.is_broken = record.is_broken || closing == end;
      stop = closing == end ? end : closing + 1;
      while (stop != end && (*stop == ' ' || *stop == '\r') && !ends_field(*stop)) ++stop;
      record.is_broken = record.is_broken || (stop != end && !ends_field(*stop));
    }
    const char* rest = stop;
    while (stop != end && !ends_field(*stop)) ++stop;
    if (!quoted) {
      const char* last = stop;
      if (last != rest && last[-1] == '\r' && dialect.line_end == '\n' && (stop == end || *stop == '\n')) --last;
      value.assign(rest, last);
    }
    record.fields.push_back(std::move(value));
    record.quoted.push_back(quoted);
    if (stop == end) return text.size();
    at = stop + 1;
    if (*stop == dialect.line_end) return static_cast<size_t>(at - text.data());
  }
}

}  // namespace pistachio
