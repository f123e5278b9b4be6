// Line editing with libedit. The library keeps its state in its own objects; the only external state is the locale, which is set for this
// thread and only during calls: lines are UTF-8 whatever the user's language is.
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "frontend/cli/line_prompt.h"

#ifdef PISTACHIO_LINE_EDITING

#include <fmt/format.h>
#include <histedit.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <exception>

#include "base/error.h"
#include "frontend/cli/standard_output.h"
#include "frontend/cli/wide_text.h"

namespace pistachio {

namespace {

class ThreadLocale {
 public:
  ThreadLocale() : own_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(own_ != nullptr ? ::uselocale(own_) : nullptr) {}
  ~ThreadLocale() {
    if (own_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(own_);
  }
  ThreadLocale(const ThreadLocale&) = delete;
  ThreadLocale& operator=(const ThreadLocale&) = delete;

 private:
  locale_t own_;
  locale_t before_;
};

class EditingPrompt final : public LinePrompt {
 public:
  EditingPrompt(TerminalInput& input, PromptHistory& history, const SqlCompletion& completion)
      : input_(input),
        history_(history),
        completion_(completion),
        recalled_(::history_winit(), ::history_wend),
        editor_(start_editor(), ::el_end) {
    if (!editor_ || !recalled_) throw UserError("cannot set up line editing");
    HistEventW event;
    ::history_w(recalled_.get(), &event, H_SETSIZE, static_cast<int>(PromptHistory::kMaxLines));
    for (const std::string& line : history_.lines()) recall(line);
    ThreadLocale locale;
    EditLine* editor = editor_.get();
    ::el_wset(editor, EL_CLIENTDATA, this);
    ::el_wset(editor, EL_PROMPT, prompt_text);
    ::el_wset(editor, EL_EDITOR, L"emacs");
    ::el_wset(editor, EL_HIST, ::history_w, recalled_.get());
    ::el_wset(editor, EL_GETCFN, read_character);
    ::el_wset(editor, EL_ADDFN, L"complete-sql", L"completes a name or keyword", complete);
    ::el_wset(editor, EL_BIND, L"\t", L"complete-sql", nullptr);
    ::el_wset(editor, EL_BIND, L"^R", L"em-inc-search-prev", nullptr);
    ::el_source(editor, nullptr);  // the user's .editrc
  }

  Outcome read(const std::string& prompt, std::string& line) override {
    ThreadLocale locale;
    prompt_ = to_wide(prompt);
    is_interrupted_ = false;
    problem_ = nullptr;
    input_.start_line();
    // Before the prompt is shown: what is typed right after it is for the editor, not for the terminal's own editing.
    ::el_wset(editor_.get(), EL_PREP_TERM, 1);
    int count = 0;
    const wchar_t* text = ::el_wgets(editor_.get(), &count);
    if (problem_) std::rethrow_exception(problem_);
    if (is_interrupted_) {
      print_to_standard_error("^C\n");
      return Outcome::Dropped;
    }
    if (text == nullptr || count <= 0) return Outcome::End;
    line = to_utf8(std::wstring_view(text, static_cast<size_t>(count)));
    while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
    if (history_.add(line)) recall(line);
    return Outcome::Line;
  }

 private:
  static EditLine* start_editor() {
    ThreadLocale locale;
    return ::el_init("pistachio", stdin, stderr, stderr);
  }

  static EditingPrompt& of(EditLine* editor) {
    void* own = nullptr;
    ::el_wget(editor, EL_CLIENTDATA, &own);
    return *static_cast<EditingPrompt*>(own);
  }

  static wchar_t* prompt_text(EditLine* editor) { return of(editor).prompt_.data(); }

  // libedit is C: no exception may propagate through it.
  static int read_character(EditLine* editor, wchar_t* character) {
    EditingPrompt& own = of(editor);
    try {
      return own.next_character(*character);
    } catch (...) {
      own.problem_ = std::current_exception();
      errno = EIO;
      return -1;
    }
  }

  // 1; 0 at the end of input; -1 to abandon the line.
  int next_character(wchar_t& character) {
    std::mbstate_t state{};
    while (true) {
      char byte = 0;
      switch (input_.next(byte)) {
        case TerminalInput::Event::End: return 0;
        case TerminalInput::Event::Interrupt:
          is_interrupted_ = true;
          errno = EINTR;
          return -1;
        case TerminalInput::Event::Byte: break;
      }
      size_t used = std::mbrtowc(&character, &byte, 1, &state);
      if (used <= 1) return 1;
      if (used == static_cast<size_t>(-1)) state = {};  // invalid UTF-8: dropped
    }
  }

  static unsigned char complete(EditLine* editor, int) {
    EditingPrompt& own = of(editor);
    try {
      return own.complete_word();
    } catch (...) {
      own.problem_ = std::current_exception();
      return CC_EOF;
    }
  }

  unsigned char complete_word() {
    const LineInfoW* line = ::el_wline(editor_.get());
    std::string before = to_utf8(std::wstring_view(line->buffer, static_cast<size_t>(line->cursor - line->buffer)));
    CompletionResult found = completion_.complete(before);
    std::string word = before.substr(before.size() - found.word_bytes);
    // Tabs in pasted text are literal.
    if (word.empty()) return ::el_winsertstr(editor_.get(), L"\t") == 0 ? CC_REFRESH : CC_ERROR;
    if (found.candidates.empty()) return CC_ERROR;
    std::string common = common_begin(found.candidates);
    if (found.candidates.size() == 1 && !common.ends_with('(')) common += ' ';
    if (common.size() > word.size()) {
      ::el_wdeletestr(editor_.get(), static_cast<int>(to_wide(word).size()));
      return ::el_winsertstr(editor_.get(), to_wide(common).c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    list(found.candidates);
    return CC_REDISPLAY;
  }

  static void list(const std::vector<std::string>& candidates) {
    constexpr size_t kShown = 60;
    size_t shown = std::min(candidates.size(), kShown);
    print_to_standard_error("\n{}{}\n", fmt::join(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(shown), "  "),
               shown < candidates.size() ? fmt::format("  and {} more", candidates.size() - shown) : "");
  }

  void recall(const std::string& line) {
    HistEventW event;
    ::history_w(recalled_.get(), &event, H_ENTER, to_wide(line).c_str());
  }

  TerminalInput& input_;
  PromptHistory& history_;
  const SqlCompletion& completion_;
  std::wstring prompt_;
  bool is_interrupted_ = false;
  std::exception_ptr problem_;
  std::unique_ptr<HistoryW, void (*)(HistoryW*)> recalled_;
  std::unique_ptr<EditLine, void (*)(EditLine*)> editor_;
};

bool can_edit() {
  const char* terminal = std::getenv("TERM");
  bool is_able = terminal != nullptr && *terminal != 0 && std::string_view(terminal) != "dumb";
  return is_able && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

}  // namespace

std::unique_ptr<LinePrompt> make_line_prompt(TerminalInput& input, PromptHistory& history, const SqlCompletion& completion) {
  if (!can_edit()) return make_plain_prompt(input);
  return std::make_unique<EditingPrompt>(input, history, completion);
}

}  // namespace pistachio

#else

namespace pistachio {

std::unique_ptr<LinePrompt> make_line_prompt(TerminalInput& input, PromptHistory&, const SqlCompletion&) {
  return make_plain_prompt(input);
}

}  // namespace pistachio

#endif
