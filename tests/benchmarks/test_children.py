"""How benchmarks report a process that failed."""

import subprocess
import sys

import pytest

from benchmarks.children import last_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('no such thing\\nuse another')", "use another"),
        (
            "import os; os.write(2, b'a warning'); os.kill(os.getpid(), 9)",
            "the process was killed, probably because memory ran out",
        ),
        ("import sys; sys.exit(3)", "the process ended with status 3"),
    ],
)
def test_last_words_of_a_process(code, words):
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert last_words(process) == words
