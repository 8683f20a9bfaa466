"""Parents of labels in WordNet 3.0: the hypernyms of the first sense of a noun, those of an instance included.

Three files, compressed with gzip:

`wordnet_noun_senses.tsv.gz`      a header, then lemma TAB synsets, the most frequent first
`wordnet_noun_hypernyms.tsv.gz`   a header, then synset TAB lemmas TAB hypernyms TAB instance hypernyms
`wordnet_noun_exceptions.txt.gz`  an irregular form, then its base forms, with blanks between them

Several values of a cell have `|` between them, several words of a lemma `_`. A label is looked up in lower case with
`_` for white space; where it is no lemma also with `_` for hyphens. A plural is looked up by the exceptions and then
by the endings of WordNet's own search (morphy). The first sense is not always the one that is meant. A label that
begins with a synset and a blank, as ImageNet's do (`n02084071 dog`), means that synset.

Source: Fellbaum (ed.), WordNet: an electronic lexical database, MIT Press 1998; https://wordnet.princeton.edu.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.readers.table import explained, lines_of

SENSES = "wordnet_noun_senses.tsv.gz"
HYPERNYMS = "wordnet_noun_hypernyms.tsv.gz"
EXCEPTIONS = "wordnet_noun_exceptions.txt.gz"
SYNSETS = re.compile(r"n[0-9]{8}(\|n[0-9]{8})*")
NAMED = re.compile(r"(n[0-9]{8}) .+")  # a label that says its synset
ENDINGS = (("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"))
PLURALS = (("s", ""), *ENDINGS)


class Options(Strict):
    """There are none."""


def read_parents(raw: Path, options: Options, labels: Sequence[str]) -> list[set[str]]:
    """Read the hypernyms of each label.

    Parameters
    ----------
    raw : the folder with the three files
    labels : the names of a data set's labels

    Returns
    -------
    The synsets that are parents of each label, in the order of `labels`; empty for a label that is no noun.

    Raises
    ------
    UserError
        A file is missing or damaged, or a line is not as above; it names file and line.
    """
    first_sense = _read_senses(raw / SENSES)
    hypernyms = _read_hypernyms(raw / HYPERNYMS)
    bases = read_exceptions(raw / EXCEPTIONS)
    named = [NAMED.fullmatch(label) for label in labels]
    senses = [
        found[1] if found else find_sense(label, first_sense, bases) for label, found in zip(labels, named, strict=True)
    ]
    return [set() if sense is None else hypernyms.get(sense, set()) for sense in senses]


def find_sense(label: str, first_sense: Mapping[str, str], bases: Mapping[str, list[str]]) -> str | None:
    """Return the first synset of a label, or None if it is no noun.

    Parameters
    ----------
    first_sense : lemma -> its most frequent synset
    bases : irregular form -> its base forms
    """
    lemma = "_".join(label.lower().split())
    for form in dict.fromkeys([lemma, lemma.replace("-", "_")]):
        regular = [form.removesuffix(ending) + base for ending, base in PLURALS if form.endswith(ending)]
        for candidate in [form, *bases.get(form, []), *regular]:
            if candidate in first_sense:
                return first_sense[candidate]
    return None


def _read_senses(path: Path) -> dict[str, str]:
    found = {}
    for number, line in _lines(path, header="lemma\tsynsets"):
        lemma, tab, synsets = line.partition("\t")
        if not (lemma and tab and SYNSETS.fullmatch(synsets)) or lemma in found:
            raise UserError(f"{path}: line {number}: {line[:60]!r} is not a new lemma, a tab and its synsets")
        found[lemma] = synsets.partition("|")[0]
    return found


def _read_hypernyms(path: Path) -> dict[str, set[str]]:
    found = {}
    for number, line in _lines(path, header="synset\tlemmas\thypernyms\tinstance_hypernyms"):
        cells = line.split("\t")
        parents = [cell for cell in cells[2:] if cell]
        synsets = [*cells[:1], *parents]
        if len(cells) != 4 or cells[0] in found or not all(SYNSETS.fullmatch(cell) for cell in synsets):
            raise UserError(f"{path}: line {number}: {line[:60]!r} is not a new synset, its lemmas and its hypernyms")
        found[cells[0]] = {synset for cell in parents for synset in cell.split("|")}
    return found


def read_exceptions(path: Path) -> dict[str, list[str]]:
    """Read irregular plurals: form -> its base forms; raises a `UserError` that names file and line."""
    found: dict[str, list[str]] = {}
    for number, line in _lines(path):
        form, *base_forms = line.split()
        if not base_forms:
            raise UserError(f"{path}: line {number}: {line[:60]!r} is not an irregular form and its base forms")
        found.setdefault(form, []).extend(base_forms)
    return found


def _lines(path: Path, header: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line behind the header, without empty ones."""
    number = 0
    with explained(path):
        for number, text in enumerate(lines_of(path), 1):
            line = text.rstrip("\n")
            if number == 1 and header is not None:
                if line != header:
                    raise UserError(f"{path}: line 1: {line[:60]!r} where the header {header!r} should be")
            elif line.strip():
                yield number, line
    if number == 0:
        raise UserError(f"{path}: is empty")
