"""Fill a Markdown page with tables and figures of a finished run, and with the keys of configuration files.

In the page, a block names a table or a figure of the run by its file's name. For a table it may name the columns to
keep, and what the heading of a group of rows must contain:

    <!-- table: vse_fs_table4; groups: IAPR; columns: Method, Source, Recall@5 -->
    <!-- end of table -->

    <!-- figure: vse_fs_figure2; Seconds and accuracy as sizes and settings vary -->
    <!-- end of figure -->

A block of keys names a type of `vsebench.config`, or `methods`, `decisions` or `adapters` for their settings, or
`shared` for the settings that several of them share, and needs no run:

    <!-- keys: RunConfig -->
    <!-- end of keys -->

What stands between the two lines is replaced. Intervals and the notes below a table are left out; `intervals: yes`
keeps the intervals. A figure is copied to `images/PAGE/` beside the page; the text behind its name describes it.
"""

import argparse
import re
import shutil
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.storage import replacing
from vsebench.rendering.keys import keys

BLOCK = re.compile(
    r"<!-- (?P<kind>table|figure|keys): (?P<asked>[^\n]*?) -->\n(?P<old>.*?)<!-- end of (?P=kind) -->", re.DOTALL
)
START = re.compile("^<!-- (?:table|figure|keys):", re.MULTILINE)
Lines = list[list[str]]  # the cells of a table's lines: the headings, the rule, and the rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("page", type=Path, help="a Markdown file with blocks for tables, figures and keys")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"), help="folder (default: results/tables)")
    parser.add_argument("--figures", type=Path, default=Path("figures"), help="folder (default: figures)")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage; the page stays as it is if one of its blocks cannot be filled."""
    page: Path = arguments.page
    if not page.is_file():
        raise UserError(f"there is no page {page}")
    old = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(old))
    if not blocks or len(blocks) != len(START.findall(old)):
        form = "<!-- table: NAME -->, and behind it <!-- end of table -->"
        raise UserError(f"{page}: {len(blocks)} of {len(START.findall(old))} blocks are whole; a block is {form}")
    pictures: list[Path] = []

    def filled(block: re.Match[str]) -> str:
        where = f"{page}: {block['kind']}: {block['asked']}"
        if block["kind"] == "figure":
            text, picture = figure(block["asked"], page, arguments.figures, where)
            pictures.append(picture)
        elif block["kind"] == "keys":
            text = keys(block["asked"], where)
        else:
            text = table(block["asked"], arguments.tables, where)
        return whole(block, text)

    text = BLOCK.sub(filled, old)
    for picture in pictures:
        copy = page.parent / "images" / page.stem / picture.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, copy)
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"{page}: {len(blocks)} blocks filled")


def with_current_keys(text: str, where: str) -> str:
    """Return a page's text with its blocks of keys filled from the types of today; `where` names the page."""

    def filled(block: re.Match[str]) -> str:
        if block["kind"] != "keys":
            return block[0]
        return whole(block, keys(block["asked"], where))

    return BLOCK.sub(filled, text)


def whole(block: re.Match[str], text: str) -> str:
    """Return a block with a new text between its two lines."""
    return f"<!-- {block['kind']}: {block['asked']} -->\n\n{text}\n\n<!-- end of {block['kind']} -->"


def figure(asked: str, page: Path, folder: Path, where: str) -> tuple[str, Path]:
    """Return the Markdown of a figure, and its file."""
    name, _, description = (part.strip() for part in asked.partition(";"))
    path = folder / f"{name}.png"
    if not path.is_file():
        raise UserError(f"{where}: the run has no figure {path}")
    if not description:
        raise UserError(f"{where}: after the name comes a semicolon and what the figure shows")
    return f"![{description}](images/{page.stem}/{path.name})", path


def table(asked: str, folder: Path, where: str) -> str:
    """Return the Markdown of a table."""
    name, *parts = (part.strip() for part in asked.split(";"))
    options = {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in parts)}
    unknown = options.keys() - {"columns", "groups", "intervals"}
    if unknown:
        raise UserError(f"{where}: {min(unknown)!r} is none of columns, groups, intervals")
    path = folder / f"{name}.md"
    if not path.is_file():
        raise UserError(f"{where}: the run has no table {path}")
    lines = table_lines(path.read_text(encoding="utf-8"))
    if "groups" in options:
        lines = with_groups(lines, options["groups"], where)
    if "columns" in options:
        lines = with_columns(lines, [column.strip() for column in options["columns"].split(",")], where)
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return text if options.get("intervals") == "yes" else without_intervals(text)


def table_lines(text: str) -> Lines:
    """Return the cells of the lines of a table in Markdown."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_groups(lines: Lines, heading: str, where: str) -> Lines:
    """Return a table's lines of the groups whose heading, in the first column, contains a text."""
    kept, group = lines[:2], ""
    for cells in lines[2:]:
        group = cells[0] or group
        if heading in group:
            kept.append(cells)
    if lines[0][0] or len(kept) == 2:
        raise UserError(f"{where}: the table has no group with {heading!r} in its heading")
    return kept


def with_columns(lines: Lines, columns: list[str], where: str) -> Lines:
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
