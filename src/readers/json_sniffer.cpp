#include "readers/json_sniffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "readers/bad_records.h"
#include "readers/json_text.h"

namespace pistachio {

namespace {

class JsonSniffer {
 public:
  JsonSniffer(const TextSample& sample, const ReadOptions& options) : sample_(sample), options_(options) {}

  SniffedJson sniff() {
    const char* const begin = sample_.text.data();
    end_ = begin + sample_.text.size();
    const char* at = skip_json_blanks(begin + begin_of_text(sample_, FileFormat::Json), end_);
    find_layout(at);
    const char* const first = at;
    while (result_.records < options_.sample_rows) {
      while (at != end_ && (is_json_blank(*at) || (result_.layout == JsonLayout::Array && (*at == ',' || *at == ']')))) ++at;
      if (at == end_) break;
      const JsonValue record = read_json_value(at, end_);
      if (record.end == nullptr || (record.end == end_ && !sample_.is_whole)) {
        if (result_.records == 0) refuse_first(record, at);
        break;  // cut off, or an error of the scan
      }
      if (result_.records == 0) result_.are_objects = options_.are_objects.value_or(*at == '{');
      add_record(record, at);
      ++result_.records;
      at = record.end;
      result_.bytes = at - first;
    }
    if (!result_.are_objects && result_.names.empty()) {
      result_.names.emplace_back("json");
      result_.shapes.resize(1);
    }
    if (options_.ignore_errors && result_.layout != JsonLayout::Lines) refuse_skipping();
    result_.first_byte = first - begin;
    result_.first_line = 1 + std::count(begin, first, '\n');
    return std::move(result_);
  }

 private:
  // Leaves `at` where the records begin.
  void find_layout(const char*& at) {
    if (at != end_ && *at == '[' && options_.layout.value_or(JsonLayout::Array) == JsonLayout::Array && !is_line_of_arrays(at)) {
      result_.layout = JsonLayout::Array;
      ++at;
      return;
    }
    if (options_.layout == JsonLayout::Array && at != end_)
      throw UserError(fmt::format("{} is no JSON array: it does not begin with [", sample_.path));
    result_.layout = options_.layout.value_or(have_lines(at) ? JsonLayout::Lines : JsonLayout::Loose);
  }

  // Several arrays, each on a line, are records themselves.
  bool is_line_of_arrays(const char* at) const {
    const JsonValue first = read_json_value(at, end_);
    if (first.end == nullptr || options_.layout == JsonLayout::Array) return false;
    const char* next = skip_json_blanks(first.end, end_);
    return next != end_ && *next == '[';
  }

  // Whether each record is on a line of its own, as far as the sample shows.
  bool have_lines(const char* at) const {
    for (int checked = 0; checked < 100 && at != end_; ++checked) {
      const JsonValue record = read_json_value(at, end_);
      if (record.end == nullptr) return checked > 0;
      if (std::find(at, record.end, '\n') != record.end) return false;
      const char* stop = record.end;
      while (stop != end_ && (*stop == ' ' || *stop == '\t' || *stop == '\r')) ++stop;
      if (stop != end_ && *stop != '\n') return false;
      at = skip_json_blanks(stop, end_);
    }
    return true;
  }

  [[noreturn]] void refuse_first(const JsonValue& record, const char* at) const {
    if (record.end == nullptr && record.damage == nullptr && !sample_.is_whole &&
        (record.kind == JsonKind::Nested || record.kind == JsonKind::String))
      throw UserError(fmt::format("{}: the first record is longer than the sample of {} bytes", sample_.path, sample_.text.size()));
    const int64_t line = 1 + std::count(sample_.text.data(), at, '\n');
    throw UserError(fmt::format("{} is not JSON: line {} begins with {}", sample_.path, line,
                                quoted_value({at, static_cast<size_t>(std::min<std::ptrdiff_t>(end_ - at, 20))})));
  }

  // Behind a damaged record, the next one begins on the next line, or nobody knows where.
  [[noreturn]] void refuse_skipping() const {
    throw UserError(fmt::format("ignore_errors needs JSON with one record per line (format = 'newline_delimited'); {} {}", sample_.path,
                                result_.layout == JsonLayout::Array ? "is an array" : "has other records"));
  }

  void add_record(const JsonValue& record, const char* at) {
    if (!result_.are_objects) return add_member("json", record);
    if (*at != '{') return;  // an error of the scan
    const char* member = skip_json_blanks(at + 1, record.end);
    while (member != record.end && *member == '"') {
      const JsonValue key = read_json_value(member, record.end);
      if (key.end == nullptr) return;
      const char* colon = skip_json_blanks(key.end, record.end);
      if (colon == record.end || *colon != ':') return;
      const JsonValue value = read_json_value(skip_json_blanks(colon + 1, record.end), record.end);
      if (value.end == nullptr) return;
      std::string name;
      unescape_json(key.text, [&](std::string_view piece) { name += piece; });
      add_member(name, value);
      const char* comma = skip_json_blanks(value.end, record.end);
      if (comma == record.end || *comma != ',') return;
      member = skip_json_blanks(comma + 1, record.end);
    }
  }

  void add_member(const std::string& name, const JsonValue& value) {
    const auto [place, is_new] = places_.try_emplace(name, result_.names.size());
    if (is_new) {
      result_.names.push_back(name);
      result_.shapes.emplace_back();
    }
    ValueShapes& shapes = result_.shapes[place->second];
    switch (value.kind) {
      case JsonKind::Null: break;
      case JsonKind::Boolean: shapes.add_boolean(); break;
      case JsonKind::Number: shapes.add_number(value.text); break;
      case JsonKind::String: shapes.add_moment(value.text); break;
      case JsonKind::Nested: shapes.add_any_text(); break;
    }
  }

  const TextSample& sample_;
  const ReadOptions& options_;
  const char* end_ = nullptr;
  SniffedJson result_;
  std::map<std::string, size_t> places_;
};

}  // namespace

SniffedJson sniff_json(const TextSample& sample, const ReadOptions& options) {
  return JsonSniffer(sample, options).sniff();
}

}  // namespace pistachio
