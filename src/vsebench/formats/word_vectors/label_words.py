"""From a label's name to its word vector: the rule, and the words that a label can need.

The first of these that gives a vector counts:

`whole`       the name is a word of the file, as written, in lower case or capitalised
`alias`       the source's `aliases` has the name (in lower case), and the words there have a vector
`whole`       the name is a word after its blanks, hyphens and underscores are swapped or removed
`parts`       the mean of the vectors of its parts; parts are what stands between blanks and the signs _ - / , ( ) &
`some parts`  the same where some of the parts have no vector
`singular`    the name is a plural whose singular is a word: by WordNet's exceptions where they are given, then by its
              endings (`formats/parents/wordnet.py`), and `oes` -> `o`
`missing`     none

Names are brought to Unicode's composed form (NFC). Before a name there may be a synset (`n02084071 dog`), after it the
number of a class in brackets (`Jaguar (/m/0449p)`); neither is a part of the name.

Facts behind the order: a fixed vector that two labels share makes an exact tie, so the parts come late and the report
counts such labels.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vsebench.formats.parents.wordnet import PLURALS

CODES = re.compile(r"^n[0-9]{8} | \(/[mg]/\w+\)$")
SEPARATORS = re.compile(r"[\s_-]+")
BETWEEN_PARTS = re.compile(r"[\s_/,()&-]+")
ENDINGS = (*PLURALS, ("oes", "o"))

RULES = ("whole", "alias", "parts", "some parts", "singular", "missing")


@dataclass(frozen=True)
class Found:
    """How a label was found.

    Attributes
    ----------
    rule : one of `RULES`
    words : the words of the file whose vectors are averaged
    without : the parts of the name that have no vector
    vector : (d,) float32; None if it is missing
    """

    rule: str
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    vector: NDArray[np.float32] | None = None


class LabelRule:
    """The rule, for the aliases of a source and irregular plurals.

    Parameters
    ----------
    aliases : label in lower case -> the words to take in its place
    bases : irregular plural -> its singulars
    """

    def __init__(self, aliases: Mapping[str, str], bases: Mapping[str, Sequence[str]]) -> None:
        self._aliases = {composed(label).lower(): composed(words) for label, words in aliases.items()}
        self._bases = bases

    def words(self, labels: Sequence[str]) -> set[str]:
        """Return every word that the vectors of these labels may be made of."""
        return {word for label in labels for _, names in self._ways(label) for name in names for word in cases(name)}

    def find(self, label: str, vectors: Mapping[str, NDArray[np.float32]]) -> Found:
        """Return how a label gets its vector from the vectors of words."""
        for rule, names in self._ways(label):
            words = [next((word for word in cases(name) if word in vectors), None) for name in names]
            there = tuple(word for word in words if word is not None)
            without = tuple(name for name, word in zip(names, words, strict=True) if word is None)
            if not there or (without and rule != "parts"):
                continue
            mean = np.stack([vectors[word] for word in there]).mean(axis=0, dtype=np.float64).astype(np.float32)
            if mean.any():
                return Found("some parts" if without else rule, there, without, mean)
        return Found("missing", without=tuple(parts_of(bare(label))))

    def _ways(self, label: str) -> Iterator[tuple[str, list[str]]]:
        """Yield each rule with the words of which it takes the mean, in order."""
        name = bare(label)
        yield "whole", [name]
        alias = self._aliases.get(name.lower())
        if alias is not None:
            yield "alias", [alias]
            yield "alias", parts_of(alias)
        yield from (("whole", [form]) for form in joined(name))
        yield "parts", parts_of(name)
        for form in joined(name.lower()):
            yield from (("singular", [singular]) for singular in self._singulars(form))

    def _singulars(self, form: str) -> Iterator[str]:
        yield from self._bases.get(form, [])
        if len(form) > 2 and not form.endswith("ss"):  # as in WordNet's own search
            yield from (form.removesuffix(ending) + base for ending, base in ENDINGS if form.endswith(ending))


def composed(text: str) -> str:
    """Return a text in Unicode's composed form, with single blanks and none around it."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def bare(label: str) -> str:
    """Return a label's name without a synset or the number of a class."""
    return CODES.sub("", composed(label))


def cases(name: str) -> dict[str, None]:
    """Return a word as written, in lower case and capitalised, in this order."""
    return dict.fromkeys([name, name.lower(), name.lower().capitalize()])


def joined(name: str) -> list[str]:
    """Return a name with each separator between its pieces, and with none."""
    pieces = [piece for piece in SEPARATORS.split(name) if piece]
    return list(dict.fromkeys(separator.join(pieces) for separator in ("_", "-", " ", "")))


def parts_of(name: str) -> list[str]:
    """Return the parts of a name."""
    return [part for part in BETWEEN_PARTS.split(name) if part]
