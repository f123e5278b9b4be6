"""The prompt, at a pseudo terminal: Ctrl-C."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.support.terminal_session import CTRL_C, CTRL_D, PROMPT, TerminalSession

TEN = "(VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10))"
MAKE_TABLE = f"CREATE TEMP TABLE kept AS SELECT a.n FROM {TEN} a(n), {TEN} b(n), {TEN} c(n), {TEN} d(n);"
# The first statement shows that the line was taken: Ctrl-C before that would drop the line.
ENDLESS = "SELECT 'be' || 'gun' AS b; SELECT count(*) FROM kept a, kept b, kept c, kept d;"


class AtThePrompt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def session(self, *words, **environment):
        session = TerminalSession("--format", "csv", *words, environment={"XDG_STATE_HOME": str(self.folder), "HOME": str(self.folder)} | environment)
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

    def test_ctrl_c_drops_the_line_or_cancels_the_query_and_nothing_else(self):
        self.check_interrupts(self.session())

    def test_ctrl_c_on_a_terminal_that_cannot_edit(self):
        self.check_interrupts(self.session(TERM="dumb"))

    def test_statements_behind_the_cancelled_one_do_not_run(self):
        session = self.session()
        session.ask(MAKE_TABLE)
        session.type(ENDLESS + " SELECT 'not' || ' reached';\n")
        session.wait_for("begun")
        session.type(CTRL_C)
        session.wait_for("error: interrupted")
        session.wait_for(PROMPT)
        self.assertNotIn("not reached", session.ask("SELECT 1;"))

    def test_a_request_to_end_ends_it(self):
        for running in (False, True):
            session = self.session()
            if running:
                session.ask(MAKE_TABLE)
                session.type(ENDLESS + "\n")
                session.wait_for("begun")
            session.process.terminate()
            self.assertEqual(session.end(), 130)

    def test_without_a_prompt_ctrl_c_ends_the_run(self):
        with TerminalSession("-c", MAKE_TABLE + ENDLESS, "-c", "SELECT 'not ' || 'reached'") as session:
            session.wait_for("begun")
            session.type(CTRL_C)
            self.assertEqual(session.end(), 130)
            self.assertNotIn("not reached", session.shown)


if __name__ == "__main__":
    unittest.main()
