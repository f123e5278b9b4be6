#include <algorithm>
#include <nlohmann/json.hpp>

#include "expr/polled_text.h"
#include "results/chunk_text.h"
#include "results/distinct_names.h"
#include "results/result_formats.h"

namespace pistachio {

namespace {

// Bytes of invalid UTF-8 become U+FFFD.
void append_json_text(std::string& target, std::string_view text, WorkPoll& poll) {
  bool is_plain = true;
  for_each_block(text, poll, [&](std::string_view block) {
    // As `char` is unsigned on some machines: bytes of letters outside ASCII may be invalid UTF-8.
    auto stays = [](char letter) { return static_cast<signed char>(letter) >= ' ' && letter != '"' && letter != '\\'; };
    is_plain = is_plain && std::all_of(block.begin(), block.end(), stays);
  });
  target += '"';
  if (is_plain) {
    append_plain(target, text, poll);
  } else {
    for_each_character_block(text, poll, [&](std::string_view block) {
      std::string escaped = nlohmann::json(std::string(block)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      target.append(escaped, 1, escaped.size() - 2);  // without its quotes
    });
  }
  target += '"';
}

// Numbers that JSON represents exactly are numbers; all other values are text.
class JsonResult final : public TextResult {
 public:
  JsonResult(ResultSink& sink, bool lines) : TextResult(sink), lines_(lines) {}
  void begin(const std::vector<ResultColumn>& columns) override {
    keys_.clear();
    for (const std::string& name : distinct_names(columns)) {
      keys_.emplace_back(keys_.empty() ? "{" : ",");
      append_json_text(keys_.back(), name, poll_);
      keys_.back() += ':';
    }
    first_ = true;
    if (!lines_) sink_.write("[");
  }
  void add(const Chunk& chunk) override {
    values_.assign(chunk, poll_);
    text_.clear();
    for (size_t row = 0; row < static_cast<size_t>(chunk.rows()); ++row) {
      if (!lines_) text_ += first_ ? "\n" : ",\n";
      first_ = false;
      if (keys_.empty()) text_ += '{';
      for (size_t i = 0; i < keys_.size(); ++i) append_plain(text_ += keys_[i], values_.columns()[i][row], poll_);
      text_ += lines_ ? "}\n" : "}";
    }
    sink_.write(text_);
  }
  void end() override {
    values_.clear();
    if (!lines_) sink_.write(first_ ? "]\n" : "\n]\n");
  }
  void break_off() override {
    values_.clear();
    if (!lines_) sink_.write("\n");
  }

 private:
  bool lines_;
  bool first_ = true;
  std::vector<std::string> keys_;  // including the separators around them
  ChunkText values_{ValueStyle{"null", "\"", append_json_text}};
  std::string text_;
};

}  // namespace

std::unique_ptr<ResultReceiver> make_json_result(ResultSink& sink, bool lines) {
  return std::make_unique<JsonResult>(sink, lines);
}

}  // namespace pistachio
