// Runs SQL text statement by statement for the command line: results go to the printer, errors, with their position in the text, to where
// the settings say. One thread.
#pragma once

#include <string>
#include <string_view>

#include "parser/statement_splitter.h"
#include "session/session.h"

namespace pistachio {

class ResultOutput;

class StatementRunner {
 public:
  // `output` is the printer's output. `results_are_text`: it may receive error messages too if the settings ask for that.
  StatementRunner(Session& session, ResultReceiver& printer, ResultOutput& output, bool results_are_text)
      : session_(session), printer_(printer), output_(output), results_are_text_(results_are_text) {}

  // False after an error that ends the run. `first_line` is the text's first line in its script, for line numbers in errors. Throws
  // Cancelled, OutputClosed.
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
