"""Find the word vector of a label by its name.

A source of word vectors consists of a file of words with their vectors and, optionally, `aliases`, which map names of
labels to other names. The first of these rules that yields a vector is used:

`whole`       the name is a word of the file, as written, in lower case or capitalised
`alias`       the name in lower case has an alias; the alias is a word of the file, or all parts of the alias have
              vectors, which are averaged
`whole`       the name is a word of the file if all its spaces, hyphens and underscores are replaced by one of these
              characters, or are removed
`parts`       all parts of the name have vectors, which are averaged; parts are separated by spaces and the signs
              _ - / , ( ) &
`singular`    the name is a plural whose singular is a word of the file; or all parts of the name have vectors if
              singulars replace the plurals without a vector, and the vectors of the parts are averaged
`some parts`  only some parts of the name, or their singulars, have vectors, which are averaged
`missing`     no other rule yields a vector

Singulars are first looked up in the file of WordNet's exceptions, if the source has it. Others are formed by WordNet's
rules for endings (`formats/parents/wordnet.py`), and by replacing the ending `oes` by `o`.

Names are normalised to Unicode's composed form (NFC). A synset before a name (`n02084071 dog`) and a class id in
brackets after it (`Jaguar (/m/0449p)`) are not part of the name.

The rule `parts` comes after `whole` and `alias` because it can give several labels the same vector. Such labels always
tie; the report counts them.
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

RULES = ("whole", "alias", "parts", "singular", "some parts", "missing")


@dataclass(frozen=True)
class LabelVector:
    """The vector of a label, and the rule by which it was found.

    Attributes
    ----------
    rule : one of `RULES`
    words : the words of the file whose vectors are averaged
    without : the parts of the name that have no vector
    vector : (d,) float32; None if no rule gives one
    """

    rule: str
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    vector: NDArray[np.float32] | None = None


class LabelRule:
    """Finds the word vectors of labels.

    `aliases` maps a label in lower case to the words to use instead; `bases` maps an irregular plural to its singulars.
    """

    def __init__(self, aliases: Mapping[str, str], bases: Mapping[str, Sequence[str]]) -> None:
        self._aliases = {composed(label).lower(): composed(words) for label, words in aliases.items()}
        self._bases = bases

    def words(self, labels: Sequence[str]) -> set[str]:
        """Return all words from which the vectors of the given labels may be computed."""
        ways = (way for label in labels for _, way in self._ways(label))
        return {word for way in ways for names in way for name in names for word in cases(name)}

    def text_of(self, label: str) -> tuple[str, str]:
        """Return a pair (rule, text) for a label, for sources that have a vector for every text.

        If the label has an alias, the rule is "alias", and the text is the alias. If not, the rule is "whole", and the
        text is the label's name with spaces in place of underscores.
        """
        name = bare(label)
        alias = self._aliases.get(name.lower())
        return ("whole", composed(name.replace("_", " "))) if alias is None else ("alias", alias)

    def find_text(self, label: str, vectors: Mapping[str, NDArray[np.float32]]) -> LabelVector:
        """Return the vector of the text that `text_of` gives for a label."""
        rule, text = self.text_of(label)
        return LabelVector(rule, (text,), (), vectors[text]) if text in vectors else LabelVector("missing", (), (text,))

    def find(self, label: str, vectors: Mapping[str, NDArray[np.float32]]) -> LabelVector:
        """Return the vector of a label by the first rule that gives one."""
        for rule, way in self._ways(label):
            words = [next((word for name in names for word in cases(name) if word in vectors), None) for names in way]
            present = tuple(word for word in words if word is not None)
            without = tuple(names[0] for names, word in zip(way, words, strict=True) if word is None)
            if not present or (without and rule != "some parts"):
                continue
            mean = np.stack([vectors[word] for word in present]).mean(axis=0, dtype=np.float64).astype(np.float32)
            if mean.any():
                return LabelVector(rule, present, without, mean)
        return LabelVector("missing", without=tuple(parts_of(bare(label))))

    def _ways(self, label: str) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield pairs of a rule and lists of names.

        In each list, the first name that has a vector is used. The label's vector is the mean of these vectors.
        """
        name = bare(label)
        yield "whole", [[name]]
        alias = self._aliases.get(name.lower())
        if alias is not None:
            yield "alias", [[alias]]
            yield "alias", [[part] for part in parts_of(alias)]
        yield from (("whole", [[form]]) for form in joined(name))
        parts = parts_of(name)
        yield "parts", [[part] for part in parts]
        for form in joined(name.lower()):
            yield from (("singular", [[singular]]) for singular in self._singulars(form))
        with_singulars = [[part, *self._singulars(part.lower())] for part in parts]
        yield "singular", with_singulars
        yield "some parts", with_singulars

    def _singulars(self, form: str) -> Iterator[str]:
        yield from self._bases.get(form, [])
        if len(form) > 2 and not form.endswith("ss"):  # as in WordNet's own search
            yield from (form.removesuffix(ending) + base for ending, base in ENDINGS if form.endswith(ending))


def composed(text: str) -> str:
    """Return a text in Unicode's composed form, with single spaces inside and none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def bare(label: str) -> str:
    """Return a label's name without a synset or a class id."""
    return CODES.sub("", composed(label))


def cases(name: str) -> dict[str, None]:
    """Return a word as written, in lower case and capitalised, in this order."""
    return dict.fromkeys([name, name.lower(), name.lower().capitalize()])


def joined(name: str) -> list[str]:
    """Return spellings of a name in which all spaces, hyphens and underscores become `_`, `-`, a space or nothing."""
    pieces = [piece for piece in SEPARATORS.split(name) if piece]
    return list(dict.fromkeys(separator.join(pieces) for separator in ("_", "-", " ", "")))


def parts_of(name: str) -> list[str]:
    """Split a name at the characters of `BETWEEN_PARTS`."""
    return [part for part in BETWEEN_PARTS.split(name) if part]
