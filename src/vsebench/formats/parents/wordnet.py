"""Find the parents of labels in WordNet 3.0: the hypernyms and instance hypernyms of their first sense as nouns.

Three files, compressed with gzip, are read:

`wordnet_noun_senses.tsv.gz`      a header, then in each line: lemma TAB synsets, the most frequent synset first
`wordnet_noun_hypernyms.tsv.gz`   a header, then in each line: synset TAB lemmas TAB hypernyms TAB instance hypernyms
`wordnet_noun_exceptions.txt.gz`  in each line: an irregular form, then its base forms, separated by spaces

Values in a cell are separated by `|`, words of a lemma by `_`. A label is looked up in lower case, with `_` in place
of white space. A label that is not a lemma may be a plural, so it is then looked up in the exceptions. If that yields
no lemma, the label's ending is replaced as in WordNet's own search (morphy). If all this fails, the search is repeated
with `_` in place of hyphens too.

The first sense is not always the intended sense. A label can therefore begin with a synset and a space, as in ImageNet
(`n02084071 dog`); this synset is then used.

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
SYNSET = re.compile(r"n[0-9]{8}")
SYNSETS = re.compile(r"n[0-9]{8}(\|n[0-9]{8})*")
NAMED = re.compile(r"(n[0-9]{8}) .+")  # a label that begins with its synset
ENDINGS = (("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"))
PLURALS = (("s", ""), *ENDINGS)
Options = Strict  # this adapter has no options


def read_parents(raw: Path, options: Options, labels: Sequence[str]) -> list[set[str]]:
    """Read the synsets that are hypernyms of each label."""
    first_sense = _read_senses(raw / SENSES)
    hypernyms = _read_hypernyms(raw / HYPERNYMS)
    bases = read_exceptions(raw / EXCEPTIONS)
    parents = []
    for label in labels:
        named = NAMED.fullmatch(label)
        sense = named[1] if named else find_sense(label, first_sense, bases)
        parents.append(set() if sense is None else hypernyms.get(sense, set()))
    return parents


def find_sense(label: str, first_sense: Mapping[str, str], bases: Mapping[str, list[str]]) -> str | None:
    """Return the first synset of a label, or None if WordNet does not contain it as a noun.

    `first_sense` maps a lemma to its most frequent synset; `bases` maps an irregular form to its base forms.
    """
    lemma = "_".join(label.lower().split())
    for form in dict.fromkeys([lemma, lemma.replace("-", "_")]):
        regular = [form.removesuffix(ending) + base for ending, base in PLURALS if form.endswith(ending)]
        for candidate in [form, *bases.get(form, []), *regular]:
            if candidate in first_sense:
                return first_sense[candidate]
    return None


def _read_senses(path: Path) -> dict[str, str]:
    """Return the most frequent synset of each lemma."""
    first_sense = {}
    for number, line in _lines(path, header="lemma\tsynsets"):
        lemma, tab, synsets = line.partition("\t")
        if not (lemma and tab and SYNSETS.fullmatch(synsets)) or lemma in first_sense:
            wanted = "a lemma that no earlier line has, a tab, and the lemma's synsets"
            raise UserError(f"{path}: line {number}: {line[:60]!r} must be {wanted}")
        first_sense[lemma] = synsets.partition("|")[0]
    return first_sense


def _read_hypernyms(path: Path) -> dict[str, set[str]]:
    """Return the hypernyms of each synset."""
    hypernyms = {}
    for number, line in _lines(path, header="synset\tlemmas\thypernyms\tinstance_hypernyms"):
        cells = line.split("\t")
        parents = [cell for cell in cells[2:] if cell]
        is_new = SYNSET.fullmatch(cells[0]) is not None and cells[0] not in hypernyms
        if len(cells) != 4 or not is_new or not all(SYNSETS.fullmatch(cell) for cell in parents):
            wanted = "a synset that no earlier line has, lemmas, hypernyms and instance hypernyms, separated by tabs"
            raise UserError(f"{path}: line {number}: {line[:60]!r} must be {wanted}")
        hypernyms[cells[0]] = {synset for cell in parents for synset in cell.split("|")}
    return hypernyms


def read_exceptions(path: Path) -> dict[str, list[str]]:
    """Return the base forms of each irregular plural; a mistake raises a `UserError` that names file and line."""
    bases: dict[str, list[str]] = {}
    for number, line in _lines(path):
        form, *base_forms = line.split()
        if not base_forms:
            raise UserError(f"{path}: line {number}: {line[:60]!r} must be an irregular form and its base forms")
        bases.setdefault(form, []).extend(base_forms)
    return bases


def _lines(path: Path, header: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line after the header; empty lines are skipped."""
    number, text = 0, ""
    with explained(path):
        for number, text in enumerate(lines_of(path), 1):
            line = text.rstrip("\n")
            if number == 1 and header is not None:
                if line != header:
                    raise UserError(f"{path}: line 1: is {line[:60]!r}, but must be the header {header!r}")
            elif line.strip():
                yield number, line
    if number == 0:
        raise UserError(f"{path}: is empty; copy or download it again")
    if not text.endswith("\n"):
        missing = "has no line break at its end, so a part of it may be missing"
        raise UserError(f"{path}: {missing}; copy or download it again")
