"""Filling a page with a run's tables and figures."""

import pytest

from tests.stages.small import run
from vsebench.commands import fill

TABLE = """**Accuracy**

|  | Method | Recall@5 | MAP@10 |
| :-- | :-- | --: | --: |
| SAIAPR \\| regions | WARP | 0.313 [0.306, 0.320] | **0.190** [0.185, 0.195] |
|  | VSE-fs | **0.352**† [0.345, 0.359] | n/a |
| Other | WARP | 0.1 | 0.2 |

- A note.
"""
ASKED = "<!-- table: accuracy; groups: SAIAPR; columns: Method, MAP@10 -->"
BLOCK = ASKED + "\n{}<!-- end of table -->"
FILLED = BLOCK.format("\n|  | Method | MAP@10 |\n| :-- | :-- | --: |\n| SAIAPR \\| regions | WARP | **0.190** |\n"
                      "|  | VSE-fs | n/a |\n\n")  # fmt: skip
CELL = "<!-- cell: accuracy; row: {}; column: {} -->{}<!-- end of cell -->"
WRAPPED = CELL.replace("; ", ";\n", 1)
FIGURE = "<!-- figure: curve; How it grows -->\n{}<!-- end of figure -->"


@pytest.fixture
def fill_in(tmp_path):
    (tmp_path / "accuracy.md").write_text(TABLE)
    (tmp_path / "curve.png").write_bytes(b"a picture")

    def filled(text):
        page = tmp_path / "page.md"
        page.write_text(text)
        return run("fill", page, "--tables", tmp_path, "--figures", tmp_path), page.read_text()

    return filled


def test_a_block_gets_the_rows_and_columns_that_it_names_and_the_text_around_stays(fill_in):
    text = "# Page\n\n{}\n\nText.\n\n{}\n"
    expected = text.format(FILLED, FILLED)
    assert fill_in(text.format(BLOCK.format(""), BLOCK.format("| old |\n"))) == (0, expected)
    assert fill_in(expected) == (0, expected)


def test_all_columns_and_rows_without_options_and_intervals_where_asked(fill_in):
    status, text = fill_in("<!-- table: accuracy; intervals: yes -->\n<!-- end of table -->")
    assert status == 0
    assert "| WARP | 0.313 [0.306, 0.320] | **0.190** [0.185, 0.195] |" in text
    status, text = fill_in("<!-- table: accuracy -->\n<!-- end of table -->")
    assert "|  | VSE-fs | **0.352**† | n/a |\n| Other | WARP | 0.1 | 0.2 |\n" in text


def test_a_figure_is_copied_beside_the_page(fill_in, tmp_path):
    expected = FIGURE.format("\n![How it grows](images/page/curve.png)\n\n")
    assert fill_in(FIGURE.format("")) == (0, expected)
    assert (tmp_path / "images/page/curve.png").read_bytes() == b"a picture"


def test_a_cell_within_a_sentence_has_neither_bold_print_nor_marks(fill_in):
    text = f"A {CELL}, b {CELL},\nc {WRAPPED}."
    cells = ("VSE-fs", "Recall@5"), ("VSE-fs; intervals: yes", "Recall@5"), ("WARP; group: Other", "MAP@10")
    filled = text.format(*cells[0], "0.352", *cells[1], "0.352 [0.345, 0.359]", *cells[2], "0.2")
    assert fill_in(text.format(*cells[0], "", *cells[1], "old", *cells[2], "0.1")) == (0, filled)
    assert fill_in(filled) == (0, filled)


def test_a_line_can_end_at_any_space_of_a_cell(fill_in):
    text = "<!--\ncell:\naccuracy;\nrow: VSE-fs; column:\nRecall@5\n-->{}<!-- end of cell -->\n"
    assert fill_in(text.format("old").replace("end of", "end\nof")) == (0, text.format("0.352"))


def test_the_row_of_a_cell_is_named_by_as_many_first_cells_as_needed(fill_in, tmp_path):
    (tmp_path / "accuracy.md").write_text(
        "| Method | Source | Recall@5 |\n| :-- | :-- | --: |\n"
        "| WARP¶, top k | published | 0.1 |\n| WARP¶, top k | here | 0.2 |\n| WARP | here | 0.3 |\n"
    )
    text = f"{CELL} {CELL}"
    cells = ("WARP, top k | here", "Recall@5"), ("WARP", "Source")
    assert fill_in(text.format(*cells[0], "", *cells[1], "")) == (0, text.format(*cells[0], "0.2", *cells[1], "here"))


def test_a_page_with_tables_of_several_runs(tmp_path):
    for folder, value in {"first": "0.1", "lsep": "0.2", "wsabie": "0.3"}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "best.md").write_text(f"| Method | MAP |\n| :-- | --: |\n| EASE | {value} |\n")
    text = "A {}, b {}, c {}.\n\n{}\n".format(
        *(CELL.replace("accuracy", name).format("EASE", "MAP", "{}") for name in ("best", "lsep/best", "wsabie/best")),
        "<!-- table: lsep/best; columns: MAP -->\n\n| MAP |\n| --: |\n| {} |\n\n<!-- end of table -->",
    )
    page = tmp_path / "page.md"
    page.write_text(text.format("", "", "", ""))
    runs = [f"--tables={name}={tmp_path / name}" for name in ("wsabie", "lsep")]
    assert run("fill", f"--tables={tmp_path / 'first'}", *runs, page) == 0
    assert page.read_text() == text.format("0.1", "0.2", "0.3", "0.2")


def test_blocks_of_a_run_that_is_not_named_keep_their_text(fill_in, capsys):
    text = (
        "<!-- table: lsep/accuracy -->\nold\n<!-- end of table -->\n"
        "A <!-- cell: wsabie/accuracy; row: a; column: b -->0.5<!-- end of cell -->.\n"
    )
    own = "A " + CELL.format("VSE-fs", "MAP@10", "") + ".\n"
    status, filled = fill_in(text + own)
    assert status == 0
    assert filled.startswith(text)
    assert filled != text + own
    assert "1 block filled; 2 blocks of lsep, wsabie left unchanged" in capsys.readouterr().out


def test_keys_need_no_run(fill_in):
    block = "<!-- keys: Epochs -->\n{}<!-- end of keys -->"
    status, text = fill_in(block.format("| old |\n"))
    assert status == 0
    assert "| `maximum` | integer >= 1 | required | largest number of epochs |" in text
    assert fill_in(text) == (0, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("No block.", "complete blocks: 0 of 0"),
        ("<!-- table: other -->\n<!-- end of table -->", "the run has no table"),
        (
            "<!-- table: accuracy; columns: Recall@7 -->\n<!-- end of table -->",
            "no column 'Recall@7'; it has Method, Recall@5",
        ),
        (
            "<!-- table: accuracy; groups: NUS -->\n<!-- end of table -->",
            "no group of the table has 'NUS' in its head",
        ),
        (
            "<!-- table: accuracy; colums: Method -->\n<!-- end of table -->",
            "unknown key 'colums'; the known keys are columns, groups",
        ),
        ("<!-- table: accuracy -->\n", "complete blocks: 0 of 1"),
        ("<!-- table: accuracy -->\n" + FIGURE, "complete blocks: 1 of 2"),
        ("<!-- figure: other; text -->\n<!-- end of figure -->", "the run has no figure"),
        ("<!-- figure: curve -->\n<!-- end of figure -->", "there is no description"),
        ("A <!-- cell: accuracy; row: WARP; column: MAP@10 -->.", "complete blocks: 0 of 1"),
        (CELL.format("WSABIE", "MAP@10", ""), "0 rows of the table begin with 'WSABIE'; there must be one"),
        (CELL.format("WARP", "MAP@10", ""), "2 rows of the table begin with 'WARP'; there must be one"),
        (CELL.format("VSE-fs", "MAP@5", ""), "the table has no column 'MAP@5'; it has Method, Recall@5, MAP@10"),
        (CELL.format("VSE-fs; group: NUS", "MAP@10", ""), "no group of the table has 'NUS' in its head"),
        (CELL.format("VSE-fs; rows: 2", "MAP@10", ""), "unknown key 'rows'; the known keys are column, group, inter"),
        (
            "<!-- cell: accuracy; row: WARP --><!-- end of cell -->",
            "cell: accuracy; row: WARP: the key 'column' is mis",
        ),
        (
            "<!-- cell: lsep/a;\nrow: b; column: c --><!-- end of cell -->",
            "cell: lsep/a; row: b; column: c: there is no r",
        ),
        ("<!-- table: lsep/accuracy -->\n<!-- end of table -->", "no run 'lsep'; add --tables lsep=FOLDER"),
        (
            "<!-- keys: Path -->\n<!-- end of keys -->",
            "keys: Path: there is no type 'Path' in src/vsebench/config",
        ),
    ],
)
def test_a_block_that_cannot_be_filled_changes_nothing(fill_in, tmp_path, capsys, text, message):
    assert fill_in(text) == (1, text)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "images").exists()


def test_a_page_that_is_not_there(tmp_path, capsys):
    assert run("fill", tmp_path / "page.md") == 1
    assert "no such file" in capsys.readouterr().err


def test_only_intervals_are_left_out():
    assert fill.without_intervals("| a [b] | 0.1 [0.05, 1e-3] |") == "| a [b] | 0.1 |"


def test_a_page_that_is_not_text_is_one_line(tmp_path, capsys):
    (tmp_path / "page.png").write_bytes(b"\x89PNG\xff")
    assert run("fill", tmp_path / "page.png") == 1
    assert capsys.readouterr().err == f"vsebench fill: {tmp_path / 'page.png'}: not UTF-8 text; name a Markdown file\n"
