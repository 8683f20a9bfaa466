"""The three writers, on a table small enough to read."""

from dataclasses import replace

import pytest

from tests.rendering.latex import check_latex
from vsebench.rendering.table import Cell, Column, Row, Table, format_cell, format_interval, format_value
from vsebench.rendering.writers.csv import to_csv
from vsebench.rendering.writers.latex import to_latex
from vsebench.rendering.writers.markdown import to_markdown

COLUMNS = (
    Column("method", "Name", shown=False),
    Column("title", "Method"),
    Column("recall_10", "Recall@10", "score", interval=True),
    Column("seconds", "Seconds\nper epoch", "seconds"),
)
ROWS = (
    Row((Cell("a_b"), Cell("A & b_c"), Cell(1 / 3, 0.25, 0.5, bold=True), Cell(0.001234))),
    Row((Cell("second"), Cell("50 % | *x*"), Cell(0.3, 0.2, 0.4, dagger=True), Cell())),
    Row((Cell("oracle"), Cell("Oracle"), Cell(), Cell(1234.5)), apart=True),
)
TABLE = Table(COLUMNS, ROWS, caption="Simulated #1", notes=("p ≥ 0.05 †",))


def test_csv_has_every_number_in_full_and_every_column() -> None:
    header, first, second, oracle = to_csv(TABLE).splitlines()
    assert header == "method,title,recall_10,recall_10_low,recall_10_high,seconds"
    assert first.endswith(",0.3333333333333333,0.25,0.5,0.001234")
    assert second.endswith(",0.3,0.2,0.4,")
    assert oracle == "oracle,Oracle,,,,1234.5"


def test_markdown() -> None:
    text = to_markdown(TABLE)
    assert text.startswith("**Simulated #1**\n")
    assert "| A & b\\_c | **0.3333** [0.2500, 0.5000] | 0.00123 |" in text
    assert "| 50 % \\| \\*x\\* | 0.3000† [0.2000, 0.4000] | \N{EN DASH} |" in text
    assert "a_b" not in text
    assert text.endswith("\n- p ≥ 0.05 †\n")


def test_latex() -> None:
    lines = to_latex(TABLE, "tab:one").splitlines()
    assert lines[0] == r"\providecommand{\vseintervals}[2]{#1}"
    assert r"\caption{Simulated \#1}\label{tab:one}" in lines
    assert r"\begin{tabular}{@{}lS[table-format=1.4]S[table-format=4.5]@{}}" in lines
    assert r"A \& b\_c & \bfseries 0.3333 & 0.00123 \\" in lines
    assert r"50 \% | *x* & 0.3000{\rlap{$^\dagger$}} & {--} \\" in lines


def test_groups_get_a_heading_each_and_stay_in_the_markdown() -> None:
    grouped = replace(TABLE, rows=(replace(ROWS[0], group="One"), replace(ROWS[1], group="Two_2")))
    assert "| One | A & b\\_c |" in to_markdown(grouped)
    assert "\\multicolumn{3}{@{}l}{\\textit{Two\\_2}}" in to_latex(grouped, "tab:one")


def test_folded_latex_repeats_the_text_and_shows_each_number_once() -> None:
    text = to_latex(replace(TABLE, fold=1), "tab:one")
    assert text.count("\\begin{tabular}") == 2
    assert text.count("A \\& b\\_c") == 2
    assert text.count("0.3333") == 1
    assert text.count("0.00123") == 1


def test_a_table_of_many_blocks_has_a_row_on_each_page_at_least() -> None:
    numbers = [Column(f"n{number}", f"N{number}", "score") for number in range(40)]
    rows = [Row((Cell(f"row {index}"), *(Cell(float(index + 1)) for _ in numbers))) for index in range(3)]
    table = Table((Column("name", "Name"), *numbers), tuple(rows), caption="Wide", fold=2)
    text = to_latex(table, "tab:wide")
    check_latex(text)
    assert all(f"row {index}" in text for index in range(3))


def test_a_long_latex_table_is_continued_without_a_second_label() -> None:
    rows = tuple(replace(ROWS[0], group=f"group {n // 6}") for n in range(60))
    text = to_latex(replace(TABLE, rows=rows), "tab:one")
    assert text.count("\\begin{table*}") == 4
    assert text.count("\\label{") == 1
    assert text.count("(continued)") == text.count("\\addtocounter{table}{-1}") == 3


def test_a_group_that_is_longer_than_a_page_is_continued_under_its_heading() -> None:
    text = to_latex(replace(TABLE, rows=(replace(ROWS[0], group="One"),) * 60), "tab:one")
    assert text.count("\\textit{One}") == 1
    assert text.count("\\textit{One (continued)}") == 2
    assert text.count("0.00123") == 60


def test_the_ends_of_long_texts_stay_where_intervals_are_left_out() -> None:
    long = Row((Cell("x"), Cell("VSE-fs (published settings)"), Cell(-0.25, -0.5, 0.1), Cell()))
    text = to_latex(replace(TABLE, rows=(long, ROWS[1])), "tab:one")
    assert "VSE-fs & -0.2500 & {--} \\\\\n" in text
    assert "(published settings) & \\vseintervals{{\\scriptsize [$-$.5000,.1000]}}{} &  \\\\\n" in text
    assert "table-format=-1.4" in text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (None, "score", "\N{EN DASH}"),
        (0.0, "seconds", "0"),
        (99.96, "seconds", "100"),
        (9.996, "seconds", "10.0"),
        (0.09996, "seconds", "0.100"),
        (1234567, "count", "1,234,567"),
        (4.5, "count", "4.5"),
        (0.0403, "percent", "4.03"),
        (3 << 18, "mebibytes", "0.750"),
        (250 << 20, "mebibytes", "250"),
        (0.00004, "score", "0.0000"),
        (-0.01234, "effect", "-0.0123"),
        (12.345, "effect", "12.35"),
        (8.07e-7, "effect", "8.1e-7"),
        (0.0004, "p", "< 0.001"),
        (1.0, "p", "1.000"),
    ],
)
def test_numbers_as_a_reader_sees_them(value: float | None, form: str, text: str) -> None:
    assert format_value(value, form) == text  # type: ignore[arg-type]


def test_the_numbers_of_an_effect_have_equally_many_decimals() -> None:
    near_one, large = Cell(0.9993, 0.9971, 1.0016), Cell(1.5, 0.9, 2.5)
    assert [format_cell(near_one, "effect"), format_interval(near_one, "effect")] == ["0.9993", "[0.9971, 1.0016]"]
    assert [format_cell(large, "effect"), format_interval(large, "effect")] == ["1.50", "[0.90, 2.50]"]


def test_a_count_has_as_many_decimals_as_its_interval() -> None:
    whole, mean = Cell(144, 130.05, 157.95), Cell(144.4, 130, 157.95)
    assert [format_cell(whole, "count"), format_interval(whole, "count")] == ["144", "[130, 158]"]
    assert [format_cell(mean, "count"), format_interval(mean, "count")] == ["144.4", "[130.0, 157.9]"]


def test_an_exact_number_has_no_interval() -> None:
    assert format_interval(Cell(2.14, 2.14, 2.14), "effect") == ""


def test_latex_is_well_formed() -> None:
    check_latex(to_latex(TABLE, "tab:one"))
    nasty = r"a\b{c}d~e^f$g#h_i%j&k<l>"
    check_latex(
        to_latex(
            replace(TABLE, caption=nasty, notes=(nasty,), rows=(Row((Cell(nasty),) * 2 + (Cell(),) * 2),)), "tab:one"
        )
    )


def many(number: int) -> tuple[Row, ...]:
    return tuple(Row((Cell(f"m{n}"), Cell(f"M{n}"), Cell(0.5), Cell(1.0))) for n in range(number))


def test_an_oracle_has_no_float_to_itself() -> None:
    oracle = replace(ROWS[2], apart=True)
    for number in range(35, 50):
        floats = to_latex(replace(TABLE, rows=(*many(number), oracle)), "tab:one").split("\\end{table")
        (last,) = (text for text in floats if "Oracle" in text)
        assert "M" in last.partition("\\midrule")[2].partition("Oracle")[0]


def test_short_titles_replace_those_that_cells_begin_with():
    titles = {"Ridge regression": "Ridge", "Ridge regression (hue)": "Ridge regression (hue)", "Top labels": "Top"}
    table = Table(
        [Column("method", "Method"), Column("value", "MAP", "score")],
        [
            Row.of("Ridge regression", 0.5),
            Row.of("Ridge regression‡, Top labels", 0.4),
            Row.of("Ridge regression (hue)", 0.3),
            Row.of("Ridge regressions", None),
        ],
        "c",
    )
    shown = [row.cells[0].value for row in table.shortened(titles).rows]
    assert shown == ["Ridge", "Ridge‡, Top", "Ridge regression (hue)", "Ridge regressions"]
    assert table.shortened({title: title for title in titles}) == table
