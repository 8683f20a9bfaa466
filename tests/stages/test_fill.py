"""Filling a page with a run's tables."""

import pytest

from tests.stages.small import run
from vsebench.stages import fill

TABLE = """**Accuracy**

|  | Method | Recall@5 | MAP@10 |
| :-- | :-- | --: | --: |
| SAIAPR \\| regions | WARP | 0.313 [0.306, 0.320] | **0.190** [0.185, 0.195] |
|  | VSE-fs | **0.352**† [0.345, 0.359] | n/a |

- A note.
"""
BLOCK = "<!-- table: accuracy; Method, MAP@10 -->\n{}<!-- end of table -->"
FILLED = BLOCK.format("|  | Method | MAP@10 |\n| :-- | :-- | --: |\n| SAIAPR \\| regions | WARP | **0.190** |\n"
                      "|  | VSE-fs | n/a |\n")  # fmt: skip


@pytest.fixture
def fill_in(tmp_path):
    (tmp_path / "accuracy.md").write_text(TABLE)

    def filled(text):
        page = tmp_path / "page.md"
        page.write_text(text)
        return run("fill", page, "--tables", tmp_path), page.read_text()

    return filled


def test_a_block_gets_the_columns_that_it_names_and_the_text_around_stays(fill_in):
    text = "# Page\n\n{}\n\nText.\n\n{}\n"
    expected = text.format(FILLED, FILLED)
    assert fill_in(text.format(BLOCK.format(""), BLOCK.format("| old |\n"))) == (0, expected)
    assert fill_in(expected) == (0, expected)


def test_intervals_stay_where_a_block_says_so_and_all_columns_without_names(fill_in):
    status, text = fill_in("<!-- table: accuracy; with intervals -->\n<!-- end of table -->")
    assert status == 0
    assert "| WARP | 0.313 [0.306, 0.320] | **0.190** [0.185, 0.195] |" in text
    status, text = fill_in("<!-- table: accuracy -->\n<!-- end of table -->")
    assert "|  | VSE-fs | **0.352**† | n/a |" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No block.", "no block for a table"),
        ("<!-- table: other -->\n<!-- end of table -->", "the run has no table"),
        ("<!-- table: accuracy; Recall@7 -->\n<!-- end of table -->", "no column 'Recall@7'; it has Method, Recall@5"),
        ("<!-- table: accuracy -->\n", "the line <!-- end of table --> is missing behind it"),
        ("<!-- table: accuracy -->\n" + BLOCK, "the line <!-- end of table --> is missing behind it"),
        ("<!-- table: accuracy; Method; MAP@10 -->\n<!-- end of table -->", "each once"),
    ],
)
def test_a_block_that_cannot_be_filled_changes_nothing(fill_in, capsys, text, message):
    assert fill_in(text) == (1, text)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_page_that_is_not_there(tmp_path, capsys):
    assert run("fill", tmp_path / "page.md") == 1
    assert "there is no page" in capsys.readouterr().err


def test_only_intervals_are_left_out():
    assert fill.without_intervals("| a [b] | 0.1 [0.05, 1e-3] |") == "| a [b] | 0.1 |"
