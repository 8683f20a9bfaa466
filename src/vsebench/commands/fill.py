"""Fill a Markdown page with tables and figures of a finished run, and with the keys of configuration files.

A block of the page names a table or figure of the run by its file name. For a table, it may also name the columns to
keep, and a text to select groups of rows by their headings:

    <!-- table: vse_fs_table4; groups: IAPR; columns: Method, Source, Recall@5 -->
    <!-- end of table -->

    <!-- figure: vse_fs_figure2; Seconds and accuracy as sizes and settings vary -->
    <!-- end of figure -->

A block of keys needs no run. It names a type of `vsebench.config`, whose keys it lists. With `methods`, `decisions` or
`adapters` in place of a type, it lists their settings; with `shared`, the settings that several methods share:

    <!-- keys: RunConfig -->
    <!-- end of keys -->

The command replaces the text between the two lines. It omits intervals and the notes below a table; the option
`intervals: yes` keeps the intervals. A figure is copied to `images/PAGE/` in the page's folder; the text after its name
becomes its description.
"""

import argparse
import re
import shutil
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.storage import replacing
from vsebench.rendering.keys import keys

BLOCK = re.compile(
    r"<!-- (?P<kind>table|figure|keys): (?P<content>[^\n]*?) -->\n(?P<old>.*?)<!-- end of (?P=kind) -->", re.DOTALL
)
START = re.compile("^<!-- (?:table|figure|keys):", re.MULTILINE)
Lines = list[list[str]]  # the cells of a table's lines: the headings, the rule, and the rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", type=Path, help="a Markdown file with blocks for tables, figures and keys")
    tables = Path("results/tables")
    parser.add_argument("--tables", type=Path, default=tables, help=f"folder of the run's tables (default: {tables})")
    parser.add_argument(
        "--figures", type=Path, default=Path("figures"), help="folder of its figures (default: figures)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Fill the page; leave it unchanged if one of its blocks cannot be filled."""
    page: Path = arguments.page
    if not page.is_file():
        raise UserError(f"{page}: no such file")
    old = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(old))
    if not blocks or len(blocks) != len(START.findall(old)):
        form = "<!-- table: NAME -->, followed by <!-- end of table -->"
        raise UserError(f"{page}: {len(blocks)} of {len(START.findall(old))} blocks are complete; write each as {form}")
    pictures: list[Path] = []

    def filled(block: re.Match[str]) -> str:
        where = f"{page}: {block['kind']}: {block['content']}"
        if block["kind"] == "figure":
            text, picture = figure(block["content"], page, arguments.figures, where)
            pictures.append(picture)
        elif block["kind"] == "keys":
            text = keys(block["content"], where)
        else:
            text = table(block["content"], arguments.tables, where)
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
    """Return a page's text with its blocks of keys filled; `where` is the page's name for messages."""

    def filled(block: re.Match[str]) -> str:
        if block["kind"] != "keys":
            return block[0]
        return whole(block, keys(block["content"], where))

    return BLOCK.sub(filled, text)


def whole(block: re.Match[str], text: str) -> str:
    """Return a block with new text between its first and last lines."""
    return f"<!-- {block['kind']}: {block['content']} -->\n\n{text}\n\n<!-- end of {block['kind']} -->"


def figure(content: str, page: Path, folder: Path, where: str) -> tuple[str, Path]:
    """Return the Markdown of a figure, and the figure's file."""
    name, _, description = (part.strip() for part in content.partition(";"))
    path = folder / f"{name}.png"
    if not path.is_file():
        raise UserError(f"{where}: the run has no figure {path}")
    if not description:
        raise UserError(f"{where}: there is no description; add a semicolon and a description after the figure's name")
    return f"![{description}](images/{page.stem}/{path.name})", path


def table(content: str, folder: Path, where: str) -> str:
    """Return the Markdown of a table."""
    name, *parts = (part.strip() for part in content.split(";"))
    options = {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in parts)}
    unknown = options.keys() - {"columns", "groups", "intervals"}
    if unknown:
        raise UserError(f"{where}: unknown key {min(unknown)!r}; the known keys are columns, groups, intervals")
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
    """Return the cells of each line of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_groups(lines: Lines, heading: str, where: str) -> Lines:
    """Return the groups of rows with a heading (in the first column) that contains a text."""
    kept, group = lines[:2], ""
    for cells in lines[2:]:
        group = cells[0] or group
        if heading in group:
            kept.append(cells)
    if lines[0][0] or len(kept) == 2:
        raise UserError(f"{where}: the table has no group with {heading!r} in its heading")
    return kept


def with_columns(lines: Lines, columns: list[str], where: str) -> Lines:
    """Return these columns, preceded by the column that contains the headings of groups."""
    unknown = [column for column in columns if column not in lines[0]]
    if unknown:
        raise UserError(f"{where}: the table has no column {unknown[0]!r}; it has {', '.join(filter(None, lines[0]))}")
    indices = [lines[0].index(column) for column in columns]
    if "" in lines[0]:
        indices = [lines[0].index(""), *indices]
    return [[cells[index] for index in indices] for cells in lines]


def without_intervals(text: str) -> str:
    """Remove the intervals after the numbers of a text.

    >>> without_intervals("| WARP | **0.313** [0.306, 0.320] | 0.447† [-0.1, 0.5] |")
    '| WARP | **0.313** | 0.447† |'
    """
    return re.sub(r" \[[-\d.,e ]+\]", "", text)
