"""Fill a Markdown page with tables and figures of a finished run, and with the keys of configuration files.

A block of the page names a table or a figure of the run by its file name. A block of a table can also have options:
`columns` names the columns to keep, and `groups` keeps only the groups of rows whose heading contains the given text:

    <!-- table: vse_fs_table4; groups: IAPR; columns: Method, Source, Recall@5 -->
    <!-- end of table -->

    <!-- figure: vse_fs_figure2; Seconds and accuracy as sizes and settings vary -->
    <!-- end of figure -->

A block of keys needs no run. It names a class of `vsebench.config` whose keys the page lists. In place of a class, the
block can name `methods`, `decisions` or `adapters`, to list their settings, or `shared`, to list the settings that
several methods share:

    <!-- keys: RunConfig -->
    <!-- end of keys -->

The command replaces the text between the two comments. From a table, it omits the intervals and the notes below the
table; the option `intervals: yes` keeps the intervals. A figure is copied to `images/PAGE/` in the page's folder. The
text after the figure's name becomes the description of the figure.

A sentence can contain a single cell of a table, without bold print and marks. `row` states the first cell of the row,
or the first few cells with ` | ` between them. The optional key `group` states a part of the heading of the group that
contains the row:

    Recall is <!-- cell: vse_fs_table4; group: IAPR; row: VSE-fs | here; column: Recall@5 -->0.3502<!-- end of cell -->.

The first comment can continue on the next line. It must not start at the beginning of a line, because Markdown would
then treat the whole line as HTML.

A page can have tables of several runs: with `--tables lsep=FOLDER --tables wsabie=FOLDER`, a block names a table of
the run lsep as `lsep/NAME`. In place of a folder of tables, `--tables` can name the run's pack. A block whose run is
not named by `--tables` keeps its text, and the command says how many blocks were left unchanged. If such a block has no
text yet, the command fails.
"""

import argparse
import re
import shutil
from collections import Counter
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.storage import replacing
from vsebench.packs.archive import read_text
from vsebench.packs.writing import SUFFIX
from vsebench.rendering import marks
from vsebench.rendering.choices import count
from vsebench.rendering.keys import keys
from vsebench.rendering.table import DAGGER

BLOCK = re.compile(
    r"<!-- (?P<kind>table|figure|keys): (?P<content>[^\n]*?) -->\n(?P<old>.*?)<!-- end of (?P=kind) -->", re.DOTALL
)
# A cell is part of a paragraph, in which an editor can move any space to the end of a line.
CELL = re.compile(
    r"(?P<start><!--\s+cell:\s+(?P<content>(?:(?!-->).)*?)\s+-->)(?P<old>(?:(?!<!--).)*?)<!--\s+end\s+of\s+cell\s+-->",
    re.DOTALL,
)
START = re.compile(r"^<!-- (?:table|figure|keys):|<!--\s+cell:", re.MULTILINE)
Lines = list[list[str]]  # the cells of a table's lines: the headings, the rule, and the rows
Folders = dict[str, Path]  # name of a run, or "" for blocks that name no run -> folder of its tables, or its pack


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", type=Path, help="a Markdown file with blocks for tables, cells, figures and keys")
    parser.add_argument(
        "--tables",
        type=run_and_folder,
        action="append",
        default=[("", Path("results/tables"))],
        metavar="[RUN=]FOLDER",
        help="folder of the run's tables, or the run's pack (default: results/tables); for further "
        "runs, add --tables RUN=FOLDER for each",
    )
    parser.add_argument(
        "--figures", type=Path, default=Path("figures"), help="folder of the run's figures (default: figures)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Fill the page; leave it unchanged if one of its blocks cannot be filled."""
    page: Path = arguments.page
    if not page.is_file():
        raise UserError(f"{page}: no such file")
    try:
        old = page.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{page}: not UTF-8 text; name a Markdown file") from None
    blocks = [*BLOCK.finditer(old), *CELL.finditer(old)]
    if not blocks or len(blocks) != len(START.findall(old)):
        form = "<!-- table: NAME -->, followed by <!-- end of table -->"
        complete = f"complete blocks: {len(blocks)} of {len(START.findall(old))}"
        raise UserError(f"{page}: {complete}; write at least one block, and each like this one: {form}")
    folders: Folders = dict(arguments.tables)
    pictures: list[Path] = []
    kept: Counter[str] = Counter()  # run that --tables does not name -> number of its blocks

    def keeps(block: re.Match[str]) -> bool:
        name = run_of(block)
        keep = name is not None and name not in folders and bool(block["old"].strip())
        kept.update([str(name)] if keep else [])
        return keep

    def filled(block: re.Match[str]) -> str:
        if keeps(block):
            return block[0]
        where = f"{page}: {block['kind']}: {block['content']}"
        if block["kind"] == "figure":
            text, picture = figure(block["content"], page, arguments.figures, where)
            pictures.append(picture)
        elif block["kind"] == "keys":
            text = keys(block["content"], where)
        else:
            text = table(block["content"], folders, where)
        return whole(block, text)

    def filled_cell(block: re.Match[str]) -> str:
        if keeps(block):
            return block[0]
        content = " ".join(block["content"].split())
        text = cell(content, folders, f"{page}: cell: {content}")
        return f"{block['start']}{text}<!-- end of cell -->"

    text = CELL.sub(filled_cell, BLOCK.sub(filled, old))
    for picture in pictures:
        copy = page.parent / "images" / page.stem / picture.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, copy)
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    left = f"; {count(kept.total(), 'block')} of {', '.join(sorted(kept))} left unchanged" if kept else ""
    print(f"{page}: {count(len(blocks) - kept.total(), 'block')} filled{left}")


def run_and_folder(argument: str) -> tuple[str, Path]:
    """Return the name of a run and the folder of its tables.

    >>> run_and_folder("lsep=runs/lsep"), run_and_folder("runs/k=5")
    (('lsep', PosixPath('runs/lsep')), ('', PosixPath('runs/k=5')))
    """
    name, equals, folder = argument.partition("=")
    return (name, Path(folder)) if equals and "/" not in name else ("", Path(argument))


def run_of(block: re.Match[str]) -> str | None:
    """Return the run that a block names, or None; only blocks of tables and cells can name a run."""
    if block.groupdict().get("kind") in ("figure", "keys"):
        return None
    return block["content"].partition(";")[0].strip().rpartition("/")[0] or None


def with_current_keys(text: str, where: str) -> str:
    """Return the text of a page after filling its blocks of keys; `where` names the page in messages."""

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
        raise UserError(f"{where}: the run has no figure {path}; correct its name, or --figures")
    if not description:
        raise UserError(f"{where}: there is no description; add a semicolon and a description after the figure's name")
    return f"![{description}](images/{page.stem}/{path.name})", path


def table(content: str, folders: Folders, where: str) -> str:
    """Return the Markdown of a table."""
    lines, options = table_and_options(content, ["columns", "groups", "intervals"], folders, where)
    if "groups" in options:
        lines = with_groups(lines, options["groups"], where)
    if "columns" in options:
        lines = with_columns(lines, [column.strip() for column in options["columns"].split(",")], where)
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return text if options.get("intervals") == "yes" else without_intervals(text)


def cell(content: str, folders: Folders, where: str) -> str:
    """Return the text of a cell, without bold print and marks."""
    lines, options = table_and_options(content, ["column", "group", "intervals", "row"], folders, where)
    missing = [key for key in ("row", "column") if key not in options]
    if missing:
        raise UserError(f"{where}: the key {missing[0]!r} is missing; add it")
    if "group" in options:
        lines = with_groups(lines, options["group"], where)
    first = 0 if lines[0][0] else 1  # the column after that with the headings of groups, if there is one
    begin = plain(options["row"]).split(" | ")
    rows = [cells for cells in lines[2:] if [plain(text) for text in cells[first : first + len(begin)]] == begin]
    if len(rows) != 1:
        raise UserError(f"{where}: {len(rows)} rows of the table begin with {options['row']!r}; there must be one")
    text = plain(with_columns([lines[0], rows[0]], [options["column"]], where)[1][-1])
    return text if options.get("intervals") == "yes" else without_intervals(text)


def table_and_options(content: str, known: list[str], folders: Folders, where: str) -> tuple[Lines, dict[str, str]]:
    """Return the lines of the table that a block names, and the block's options."""
    name, *parts = (part.strip() for part in content.split(";"))
    options = {key.strip(): value.strip() for key, _, value in (part.partition(":") for part in parts)}
    unknown = options.keys() - set(known)
    if unknown:
        raise UserError(f"{where}: unknown key {min(unknown)!r}; the known keys are {', '.join(known)}")
    run, _, file = name.rpartition("/")
    if run not in folders:
        raise UserError(f"{where}: there is no run {run!r}; add --tables {run}=FOLDER")
    text = table_text(folders[run], f"{file}.md")
    if text is None:
        raise UserError(f"{where}: the run has no table {folders[run] / file}.md; correct its name, or --tables")
    return table_lines(text), options


def table_text(source: Path, name: str) -> str | None:
    """Return the Markdown of a table from a folder of tables or from a pack, or None if there is no such table."""
    if source.suffix == SUFFIX:
        return read_text(source, f"tables/{name}")
    return (source / name).read_text(encoding="utf-8") if (source / name).is_file() else None


def table_lines(text: str) -> Lines:
    """Return the cells of each line of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_groups(lines: Lines, heading: str, where: str) -> Lines:
    """Return the groups of rows whose heading, in the first column, contains the text `heading`."""
    kept, group = lines[:2], ""
    for cells in lines[2:]:
        group = cells[0] or group
        if heading in group:
            kept.append(cells)
    if lines[0][0] or len(kept) == 2:
        raise UserError(f"{where}: no group of the table has {heading!r} in its heading; correct this text")
    return kept


def with_columns(lines: Lines, columns: list[str], where: str) -> Lines:
    """Return the named columns of a table, after the column with the headings of groups if there is one."""
    unknown = [column for column in columns if column not in lines[0]]
    if unknown:
        raise UserError(f"{where}: the table has no column {unknown[0]!r}; it has {', '.join(filter(None, lines[0]))}")
    indices = [lines[0].index(column) for column in columns]
    if "" in lines[0]:
        indices = [lines[0].index(""), *indices]
    return [[cells[index] for index in indices] for cells in lines]


def without_intervals(text: str) -> str:
    """Remove the intervals after the numbers in a text.

    >>> without_intervals("| WARP | **0.313** [0.306, 0.320] | 0.447† [-0.1, 0.5] |")
    '| WARP | **0.313** | 0.447† |'
    """
    return re.sub(r" \[[-\d.,e ]+\]", "", text)


def plain(text: str) -> str:
    """Return the text of a cell without bold print and marks (such as ‡).

    >>> plain("**0.313**¶ [0.306, 0.320]")
    '0.313 [0.306, 0.320]'
    """
    return marks.split(text)[0].replace("**", "").replace(DAGGER, "")
