"""Fill a Markdown page with tables of a finished run.

In the page, a block names a table of the run by its file's name and, if wanted, the columns to keep:

    <!-- table: accuracy-saiapr-regions; Method, Recall@5, Recall@10 -->
    <!-- end of table -->

What stands between the two lines is replaced. Intervals are left out unless the block says `; with intervals` at last;
so are the notes below a table, which the page explains once.
"""

import argparse
import re
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.storage import replacing

BLOCK = re.compile(
    r"(<!-- table: (?P<asked>[^\n]*?) -->\n).*?(?P<end><!-- end of table -->|<!-- table: |\Z)", re.DOTALL
)
END = "<!-- end of table -->"
WITH_INTERVALS = "with intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("page", type=Path, help="a Markdown file with blocks for tables")
    parser.add_argument(
        "--tables", type=Path, default=Path("results/tables"), help="folder of a run's tables (default: results/tables)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the stage; nothing is written if one of the blocks cannot be filled."""
    page, tables = arguments.page, arguments.tables
    if not page.is_file():
        raise UserError(f"there is no page {page}")
    text, n_blocks = BLOCK.subn(lambda block: filled(block, page, tables), page.read_text(encoding="utf-8"))
    if not n_blocks:
        raise UserError(f"{page}: no block for a table; a block starts with <!-- table: NAME --> and ends with {END}")
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"{page}: {n_blocks} tables")


def filled(block: re.Match[str], page: Path, tables: Path) -> str:
    """Return a block with its table."""
    where = f"{page}: table: {block['asked']}"
    if block["end"] != END:
        raise UserError(f"{where}: the line {END} is missing behind it")
    name, *options = (option.strip() for option in block["asked"].split(";"))
    path = tables / f"{name}.md"
    if not path.is_file():
        raise UserError(f"{where}: the run has no table {path}")
    intervals = options[-1:] == [WITH_INTERVALS]
    columns = options[: len(options) - intervals]
    if len(columns) > 1:
        raise UserError(f"{where}: after the name come the columns and {WITH_INTERVALS!r}, each once")
    lines = table_lines(path.read_text(encoding="utf-8"))
    if columns:
        lines = with_columns(lines, [column.strip() for column in columns[0].split(",")], where)
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"{block[1]}{text if intervals else without_intervals(text)}\n{END}"


def table_lines(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table's lines: the headings, the rule, and the rows."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_columns(lines: list[list[str]], columns: list[str], where: str) -> list[list[str]]:
    """Return a table's lines with these columns alone, and the one without a heading, which groups rows."""
    unknown = [column for column in columns if column not in lines[0]]
    if unknown:
        raise UserError(f"{where}: the table has no column {unknown[0]!r}; it has {', '.join(filter(None, lines[0]))}")
    places = [lines[0].index(column) for column in columns]
    if "" in lines[0]:
        places = [lines[0].index(""), *places]
    return [[cells[place] for place in places] for cells in lines]


def without_intervals(text: str) -> str:
    """Return a text without the intervals behind its numbers.

    >>> without_intervals("| WARP | **0.313** [0.306, 0.320] | 0.447† [-0.1, 0.5] |")
    '| WARP | **0.313** | 0.447† |'
    """
    return re.sub(r" \[[-\d.,e ]+\]", "", text)
