// Runs SQL text statement by statement for the command line: results go to the printer, errors to where the settings say, with their place
// in the text. One thread.
#pragma once

#include <string>
#include <string_view>

#include "parser/statement_splitter.h"
#include "session/session.h"

namespace pistachio {

class ResultOutput;

class StatementRunner {
 public:
  // `output` is where the printer writes. `results_are_text`: it can take error messages too, where the settings want them there.
  StatementRunner(Session& session, ResultReceiver& printer, ResultOutput& output, bool results_are_text)
      : session_(session), printer_(printer), output_(output), results_are_text_(results_are_text) {}

  // False after an error that ends the run. Errors count lines from `first_line` on, that of the text in the script it is from. Throws
  // Cancelled, ReaderGone.
  bool run_text(std::string_view text, const CancelToken& token, size_t first_line = 1);

  bool failed() const { return failed_; }

 private:
  bool run_statement(std::string_view text, const CancelToken& token, size_t first_line);
  void report(const std::string& message, const std::string& place, const CancelToken& token);

  Session& session_;
  ResultReceiver& printer_;
  ResultOutput& output_;
  bool results_are_text_;
  bool failed_ = false;
};

}  // namespace pistachio
