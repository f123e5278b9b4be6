#include "readers/csv_sniffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/error.h"
#include "readers/csv_records.h"
#include "storage/file_kind.h"

namespace pistachio {

namespace {

// Records that decide about the marks; a sample for types is longer.
constexpr size_t kDialectRecords = 1000;
// Share of the records that must have as many values as the first, so that the others are errors of this dialect, not a sign of another
// one.
constexpr double kRegularShare = 0.8;

struct SampledRecord {
  size_t begin = 0;
  std::vector<std::string> fields;
  std::vector<bool> quoted;
};

// The records at the beginning of a text as one dialect reads them.
struct Candidate {
  TextDialect dialect;
  size_t fields = 1;
  size_t preamble = 0;  // records before the first one with `fields` values
  bool is_regular = false;
  bool is_broken = false;  // quotes that are not closed, or text behind them
  std::vector<SampledRecord> records;
};

// Passes the records at the beginning of a text to `take`, at most so many; returns whether quotes are broken.
template <typename Take>
bool visit_sample_records(const TextDialect& dialect, std::string_view text, bool is_whole, size_t most, const Take& take) {
  bool is_broken = false;
  size_t taken = 0;
  size_t at = 0;
  while (at < text.size() && taken < most) {
    if (dialect.comment != 0 && text[at] == dialect.comment) {
      const size_t stop = text.find(dialect.line_end, at);
      at = stop == std::string_view::npos ? text.size() : stop + 1;
      continue;
    }
    CsvRecordText record;
    const size_t length = read_csv_record(dialect, text.substr(at), record);
    // The last one may be cut.
    if (at + length == text.size() && !is_whole && taken > 0) break;
    is_broken = is_broken || record.is_broken;
    if (!record.is_blank) {
      take(SampledRecord{at, std::move(record.fields), std::move(record.quoted)});
      ++taken;
    }
    at += length;
  }
  return is_broken;
}

void read_sample_records(Candidate& candidate, const TextSample& sample, std::string_view text) {
  candidate.is_broken = visit_sample_records(candidate.dialect, text, sample.is_whole, kDialectRecords,
                                             [&](SampledRecord record) { candidate.records.push_back(std::move(record)); });
}

void count_fields(Candidate& candidate, size_t wanted_fields, bool pads_nulls) {
  const std::vector<SampledRecord>& records = candidate.records;
  if (records.empty()) return;
  std::map<size_t, size_t> frequency;
  for (const SampledRecord& record : records) ++frequency[record.fields.size()];
  if (pads_nulls) {
    candidate.fields = wanted_fields > 0 ? wanted_fields : frequency.rbegin()->first;
    candidate.is_regular = true;
    return;
  }
  const size_t last = records.back().fields.size();
  size_t begin = records.size();
  while (begin > 0 && records[begin - 1].fields.size() == last) --begin;
  // Longer than what follows, it is rather the file itself.
  const bool is_preamble =
      begin <= records.size() - begin && std::all_of(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(begin),
                                                     [&](const SampledRecord& record) { return record.fields.size() < last; });
  if (begin == 0 || (is_preamble && (wanted_fields == 0 || wanted_fields == last))) {
    candidate.fields = last;
    candidate.preamble = begin;
    candidate.is_regular = true;
    return;
  }
  const auto most =
      std::max_element(frequency.begin(), frequency.end(), [](const auto& left, const auto& right) { return left.second < right.second; });
  candidate.fields = wanted_fields > 0 ? wanted_fields : most->first;
}

double regular_share(const Candidate& candidate) {
  const auto regular = std::count_if(candidate.records.begin(), candidate.records.end(),
                                     [&](const SampledRecord& record) { return record.fields.size() == candidate.fields; });
  return candidate.records.empty() ? 0 : static_cast<double>(regular) / static_cast<double>(candidate.records.size());
}

// Higher is better: whole quotes, then regular records without and with a preamble, then mostly regular ones, then a single column.
std::pair<int, size_t> rank_of(const Candidate& candidate, const ReadOptions& options) {
  int kind = 0;
  if (candidate.fields > 1 && candidate.is_regular) {
    kind = candidate.preamble == 0 ? 3 : candidate.records.size() - candidate.preamble >= 2 ? 2 : 0;
  } else if (candidate.fields > 1) {
    const double share = options.ignore_errors ? 0.5 : kRegularShare;
    kind = regular_share(candidate) >= share ? 1 : 0;
  }
  return {candidate.is_broken ? kind - 10 : kind, kind == 0 ? 0 : candidate.fields};
}

std::vector<TextDialect> possible_dialects(const ReadOptions& options, std::string_view text, char line_end) {
  std::vector<char> delimiters = {',', '|', ';', '\t'};
  if (options.delimiter) {
    delimiters = {*options.delimiter};
  } else if (!options.detects) {
    delimiters = {','};
  }
  std::vector<char> quotes = {'"'};
  if (options.quote) {
    quotes = {*options.quote};
  } else if (options.detects && text.find('\'') != std::string_view::npos) {
    quotes.push_back('\'');
  }
  std::vector<TextDialect> dialects;
  for (char delimiter : delimiters) {
    for (char quote : quotes) {
      std::vector<char> escapes = {quote};
      if (options.escape) {
        escapes = {*options.escape};
      } else if (options.detects && text.find(std::string("\\") + quote) != std::string_view::npos) {
        escapes.push_back('\\');
      }
      for (char escape : escapes) {
        TextDialect dialect;
        dialect.delimiter = delimiter;
        dialect.quote = quote;
        dialect.escape = escape;
        dialect.line_end = line_end;
        dialect.comment = options.comment.value_or('\0');
        dialect.pads_nulls = options.pads_nulls;
        dialect.quoted_may_be_null = options.quoted_may_be_null;
        if (options.null_texts) dialect.null_texts = *options.null_texts;
        dialects.push_back(dialect);
      }
    }
  }
  return dialects;
}

// Whether any field of the sample is in these quotes.
bool uses_quotes(const Candidate& candidate) {
  return std::any_of(candidate.records.begin(), candidate.records.end(), [](const SampledRecord& record) {
    return std::find(record.quoted.begin(), record.quoted.end(), true) != record.quoted.end();
  });
}

Candidate choose_dialect(const TextSample& sample, std::string_view text, const ReadOptions& options, char line_end) {
  const size_t wanted = options.columns.size();
  std::optional<Candidate> best;
  for (const TextDialect& dialect : possible_dialects(options, text, line_end)) {
    Candidate candidate{.dialect = dialect, .records = {}};
    read_sample_records(candidate, sample, text);
    count_fields(candidate, wanted, options.pads_nulls);
    // Another quote than the first one must be used to be believed.
    const bool is_usual = dialect.quote == '"' || options.quote;
    if (best && !is_usual && !uses_quotes(candidate)) continue;
    if (!best || rank_of(candidate, options) > rank_of(*best, options)) best = std::move(candidate);
  }
  // Quotes that no dialect can explain are ordinary characters.
  if (best->is_broken && !options.quote && options.detects) {
    for (char delimiter : options.delimiter ? std::vector<char>{*options.delimiter} : std::vector<char>{',', '|', ';', '\t'}) {
      Candidate candidate{.dialect = best->dialect, .records = {}};
      candidate.dialect.delimiter = delimiter;
      candidate.dialect.quote = candidate.dialect.escape = 0;
      read_sample_records(candidate, sample, text);
      count_fields(candidate, wanted, options.pads_nulls);
      if (candidate.is_regular && rank_of(candidate, options) > rank_of(*best, options)) best = std::move(candidate);
    }
  }
  return std::move(*best);
}

std::string folded_name(std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

class ColumnSniffer {
 public:
  ColumnSniffer(const TextSample& sample, const ReadOptions& options, const std::vector<std::string>& known_names, std::string_view text,
                Candidate chosen)
      : sample_(sample), options_(options), known_names_(known_names), text_(text), chosen_(std::move(chosen)) {}

  SniffedCsv sniff() {
    SniffedCsv result;
    const size_t most = options_.sample_rows > 50'000'000 ? SIZE_MAX : static_cast<size_t>(options_.sample_rows) + chosen_.preamble + 1;
    const size_t fields = std::max<size_t>(options_.columns.empty() ? chosen_.fields : options_.columns.size(), 1);
    result.shapes.resize(fields);
    // A sample may be a whole file: of its records, only the header is kept.
    std::optional<SampledRecord> header;
    size_t records = 0;  // behind the preamble
    size_t second_begin = text_.size();
    size_t last_begin = 0;
    size_t number = 0;
    visit_sample_records(chosen_.dialect, text_, sample_.is_whole, most, [&](SampledRecord record) {
      last_begin = record.begin;
      if (number++ < chosen_.preamble) return;
      if (++records == 2) second_begin = record.begin;
      if (records > 1) {
        add_shapes(record, result.shapes);
      } else {
        header = std::move(record);
      }
    });
    order_ = date_order_of(result.shapes);
    result.is_cut = !sample_.is_whole && records <= 1;
    result.has_header = header && options_.header.value_or(options_.detects &&
                                                           (repeats_known_names(*header) || is_header(*header, result.shapes, records)));
    if (header && !result.has_header) add_shapes(*header, result.shapes);
    result.dialect = chosen_.dialect;
    result.dialect.date_order = date_order_of(result.shapes);
    result.names = names(header, result.has_header, fields);
    result.first_byte = static_cast<int64_t>(header && !result.has_header ? header->begin : second_begin);
    if (result.has_header && records == 1 && !sample_.is_whole) {
      CsvRecordText skipped;
      result.first_byte = static_cast<int64_t>(header->begin + read_csv_record(chosen_.dialect, text_.substr(header->begin), skipped));
    }
    result.records = static_cast<int64_t>(records - (result.has_header ? 1 : 0));
    const size_t end = number > 0 && !sample_.is_whole ? last_begin : text_.size();
    result.bytes = std::max<int64_t>(0, static_cast<int64_t>(end) - result.first_byte);
    return result;
  }

 private:
  bool is_null(const std::string& text, bool quoted) const {
    const TextDialect& dialect = chosen_.dialect;
    if (quoted && !dialect.quoted_may_be_null) return false;
    return std::find(dialect.null_texts.begin(), dialect.null_texts.end(), text) != dialect.null_texts.end();
  }

  void add_shapes(const SampledRecord& record, std::vector<ValueShapes>& shapes) const {
    if (record.fields.size() != shapes.size() && !chosen_.dialect.pads_nulls) return;  // bad
    for (size_t i = 0; i < std::min(shapes.size(), record.fields.size()); ++i) {
      if (!is_null(record.fields[i], record.quoted[i])) shapes[i].add(record.fields[i]);
    }
  }

  // The first record is a header if it cannot be a record of the others' types, or if all columns are text.
  bool is_header(const SampledRecord& first, const std::vector<ValueShapes>& shapes, size_t records) const {
    bool all_text = true;
    bool all_null = true;
    bool is_consistent = true;
    for (size_t i = 0; i < std::min(shapes.size(), first.fields.size()); ++i) {
      if (is_null(first.fields[i], first.quoted[i])) continue;
      all_null = false;
      ValueShapes with_first = shapes[i];
      with_first.add(first.fields[i]);
      const LogicalType type = records == 1 ? with_first.type(order_) : type_of(i, shapes[i]);
      const bool is_text = type.kind() == TypeKind::Varchar;
      all_text = all_text && is_text;
      if (!is_text && with_first.type(order_).kind() == TypeKind::Varchar) is_consistent = false;
    }
    for (size_t i = first.fields.size(); i < shapes.size(); ++i) all_text = all_text && type_of(i, shapes[i]).kind() == TypeKind::Varchar;
    if (!options_.columns.empty() && all_text) return repeats_names(first);
    return all_text || all_null || !is_consistent;
  }

  // With given columns, text in the first record is a header only if it names them.
  bool repeats_names(const SampledRecord& first) const {
    for (size_t i = 0; i < std::min(options_.columns.size(), first.fields.size()); ++i) {
      if (first.fields[i] != options_.columns[i].name) return false;
    }
    return true;
  }

  bool repeats_known_names(const SampledRecord& first) const {
    if (known_names_.empty()) return false;
    const std::vector<std::string> names = usable_names(first.fields);
    return std::equal(names.begin(), names.end(), known_names_.begin(), known_names_.end(),
                      [](const std::string& left, const std::string& right) { return folded_name(left) == folded_name(right); });
  }

  LogicalType type_of(size_t column, const ValueShapes& shapes) const {
    return options_.columns.empty() ? shapes.type(order_) : options_.columns[column].type;
  }

  std::vector<std::string> names(const std::optional<SampledRecord>& header, bool has_header, size_t fields) const {
    std::vector<std::string> names(fields);
    if (header && has_header) {
      for (size_t i = 0; i < std::min(fields, header->fields.size()); ++i) names[i] = header->fields[i];
    }
    if (options_.names.size() > fields)
      throw UserError(fmt::format("{}: names has {} names for {} columns", sample_.path, options_.names.size(), fields));
    for (size_t i = 0; i < options_.names.size(); ++i) names[i] = options_.names[i];
    for (size_t i = 0; i < options_.columns.size(); ++i) names[i] = options_.columns[i].name;
    return usable_names(std::move(names));
  }

  const TextSample& sample_;
  const ReadOptions& options_;
  const std::vector<std::string>& known_names_;
  const std::string_view text_;
  const Candidate chosen_;
  DateOrder order_ = DateOrder::YearFirst;
};

}  // namespace

std::vector<std::string> usable_names(std::vector<std::string> names) {
  std::set<std::string> taken;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string& name = names[i];
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name.empty()) name = fmt::format("column{}", i);
    const std::string base = name;
    for (size_t number = 1; !taken.insert(folded_name(name)).second; ++number) name = fmt::format("{}_{}", base, number);
  }
  return names;
}

size_t begin_of_text(const TextSample& sample, FileFormat wanted) {
  const std::string_view text = sample.text;
  const std::span<const uint8_t> head(reinterpret_cast<const uint8_t*>(text.data()), std::min<size_t>(text.size(), 256));
  if (!may_be_text(head)) throw UserError(fmt::format("{} is {}, not {} in UTF-8", sample.path, kind_of_bytes(head), name_of(wanted)));
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

SniffedCsv sniff_csv(const TextSample& sample, const ReadOptions& options, const std::vector<std::string>& known_names) {
  size_t begin = begin_of_text(sample, FileFormat::Csv);
  const std::string_view all = sample.text;
  const bool has_newline = all.find('\n') != std::string_view::npos;
  const char line_end = !has_newline && all.find('\r') != std::string_view::npos ? '\r' : '\n';
  for (int64_t skipped = 0; skipped < options.skip; ++skipped) {
    const size_t stop = all.find(line_end, begin);
    if (stop == std::string_view::npos && !sample.is_whole)
      throw UserError(fmt::format("{}: the lines to skip are longer than the sample; raise sample_size", sample.path));
    begin = stop == std::string_view::npos ? all.size() : stop + 1;
  }
  const std::string_view text = all.substr(begin);
  Candidate chosen = choose_dialect(sample, text, options, line_end);
  SniffedCsv result = ColumnSniffer(sample, options, known_names, text, std::move(chosen)).sniff();
  result.first_byte += static_cast<int64_t>(begin);
  result.first_line = 1 + std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(result.first_byte), line_end);
  return result;
}

}  // namespace pistachio
