"""The prompt, at a pseudo terminal: Ctrl-C, history, editing, completion."""

import stat
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support import pistachio_process as pistachio
from tests.support.terminal_session import CTRL_C, CTRL_D, PROMPT, TAB, UP, TerminalSession

TEN = "(VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10))"
MAKE_TABLE = f"CREATE TEMP TABLE kept AS SELECT a.n FROM {TEN} a(n), {TEN} b(n), {TEN} c(n), {TEN} d(n);"
# The first statement shows that the line was accepted: Ctrl-C before that would drop the line.
ENDLESS = "SELECT 'be' || 'gun' AS b; SELECT count(*) FROM kept a, kept b, kept c, kept d;"


class AtThePrompt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.history = self.folder / "pistachio" / "history"

    def session(self, *words, ignores_hangup=False, **environment):
        session = TerminalSession("--format", "csv", *words, ignores_hangup=ignores_hangup, environment={"XDG_STATE_HOME": str(self.folder), "HOME": str(self.folder)} | environment)
        self.addCleanup(session.__exit__)
        session.wait_for(PROMPT)
        return session


class Interrupts(AtThePrompt):
    def check_interrupts(self, session):
        session.ask(MAKE_TABLE)
        session.type(ENDLESS + "\n")
        session.wait_for("begun")
        session.type(CTRL_C)
        session.wait_for("error: interrupted")
        session.wait_for(PROMPT)
        self.assertIn("10000", session.ask("SELECT count(*) FROM kept;"))
        session.type("SELECT nonsense" + CTRL_C)
        session.wait_for(PROMPT)
        session.type("SELECT (\n")
        session.wait_for("... ")
        session.type("1" + CTRL_C)
        session.wait_for(PROMPT)
        session.type(CTRL_C)
        session.wait_for(PROMPT)
        self.assertIn("42", session.ask("SELECT 40 + 2;"))
        session.type(CTRL_D)
        self.assertEqual(session.end(), 0)

    def test_ctrl_c_drops_line_or_cancels_query(self):
        self.check_interrupts(self.session())

    def test_ctrl_c_on_dumb_terminal(self):
        self.check_interrupts(self.session(TERM="dumb"))

    def test_statements_after_cancelled_one_do_not_run(self):
        session = self.session()
        session.ask(MAKE_TABLE)
        session.type(ENDLESS + " SELECT 'not' || ' reached';\n")
        session.wait_for("begun")
        session.type(CTRL_C)
        session.wait_for("error: interrupted")
        session.wait_for(PROMPT)
        self.assertNotIn("not reached", session.ask("SELECT 1;"))

    def test_termination_signal_ends_the_shell(self):
        for running in (False, True):
            session = self.session()
            if running:
                session.ask(MAKE_TABLE)
                session.type(ENDLESS + "\n")
                session.wait_for("begun")
            session.process.terminate()
            self.assertEqual(session.end(), 143)

    def test_hangup_ends_the_shell(self):
        for terminal in ["dumb", "xterm"]:
            session = self.session(TERM=terminal, ignores_hangup=True)
            # Ctrl-D submits the text: input that a terminal still buffers when it is closed is lost. The program shows nothing when it has
            # read it.
            session.type("SELECT 1 + 1" + CTRL_D)
            session.wait_for("1 + 1")
            time.sleep(0.5)
            session.hang_up()
            self.assertEqual(session.process.wait(timeout=pistachio.WATCHDOG_SECONDS), 0, terminal)

    def test_text_after_ctrl_d_continues(self):
        session = self.session(TERM="dumb")
        session.type("SELECT 40" + CTRL_D)
        self.assertIn("42", session.ask(" + 2;"))
        session.type("SELECT 50" + CTRL_D + CTRL_D)
        self.assertIn("52", session.ask(" + 2;"))

    def test_without_a_prompt_ctrl_c_ends_the_run(self):
        with TerminalSession("-c", MAKE_TABLE + ENDLESS, "-c", "SELECT 'not ' || 'reached'") as session:
            session.wait_for("begun")
            session.type(CTRL_C)
            self.assertEqual(session.end(), 130)
            self.assertNotIn("not reached", session.shown)


@unittest.skipIf("editing yes" not in " ".join(pistachio.run("version").stdout.split()), "built without libedit")
class Editing(AtThePrompt):
    def test_up_recalls_lines_across_sessions(self):
        session = self.session()
        self.assertIn("42", session.ask("SELECT 40 + 2;"))
        session.type(UP)
        session.wait_for("SELECT 40 + 2;")
        self.assertIn("42", session.ask(""))
        session.type(CTRL_D)
        self.assertEqual(session.end(), 0)
        self.assertEqual(self.history.read_text(), "SELECT 40 + 2;\n")
        self.assertEqual(stat.S_IMODE(self.history.stat().st_mode), 0o600)
        again = self.session()
        again.type(UP)
        again.wait_for("SELECT 40 + 2;")
        self.assertIn("42", again.ask(""))

    def test_lines_can_be_edited_in_any_language(self):
        session = self.session(LC_ALL="C")
        session.type("SELECT 'Grüße, 世界!'")
        session.type("\x1b[D" * 3 + "\x7f" + "x\x05;\n")
        self.assertIn("Grüße, x界!", session.wait_for(PROMPT))
        self.assertIn("SELECT 'Grüße, x界!';", self.history.read_text())

    def test_the_history_is_bounded(self):
        self.history.parent.mkdir()
        self.history.write_text("".join(f"SELECT {i};\n" for i in range(4500)))
        session = self.session()
        session.ask("SELECT 'last';")
        lines = self.history.read_text().splitlines()
        self.assertEqual(len(lines), 2001)
        self.assertEqual((lines[0], lines[-2:]), ("SELECT 2500;", ["SELECT 4499;", "SELECT 'last';"]))

    def test_unwritable_history_is_a_warning(self):
        (self.folder / "pistachio").write_text("a file where the folder should be")
        session = TerminalSession("--format", "csv", environment={"XDG_STATE_HOME": str(self.folder)})
        self.addCleanup(session.__exit__)
        self.assertIn("the history of the prompt", session.wait_for(PROMPT))
        self.assertIn("42", session.ask("SELECT 40 + 2;"))

    def test_completion_of_keywords_tables_functions_and_settings(self):
        session = self.session()
        session.ask("CREATE TABLE some_long_name(a INTEGER);")
        session.ask(f"SEL{TAB}stddev_p{TAB}a) fr{TAB} some_{TAB};")
        self.assertIn("off", session.ask(f"SHOW query_{TAB};"))
        self.assertEqual(self.history.read_text().splitlines()[1:], ["SELECT stddev_pop(a) from some_long_name ;", "SHOW query_timeout ;"])
        session.type("SET metadata" + TAB + TAB)
        session.wait_for("metadata_cache  metadata_cache_bytes")

    def test_no_completion_inside_text(self):
        session = self.session()
        self.assertIn("SEL\t|", session.ask(f"SELECT 'SEL{TAB}|' AS x;").replace("SEL     |", "SEL\t|"))


if __name__ == "__main__":
    unittest.main()
