"""Find the word vectors of a data set's labels.

The stage reads the file of word vectors once and keeps the vectors that the labels need. docs/data.md (Word vectors of
labels) describes the files that it writes.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from vsebench.config.dataset import WordVectorsDefinition, parse_definition
from vsebench.core.errors import UserError
from vsebench.core.schemas import WORD_VECTORS
from vsebench.core.storage import read_parquet, write_arrays, write_json, write_table
from vsebench.core.yaml_files import check
from vsebench.data.problem import WordVectors
from vsebench.formats.adapters import load_adapter
from vsebench.formats.download.archives import text_lines
from vsebench.formats.download.recorded import check_recorded
from vsebench.formats.parents.wordnet import read_exceptions
from vsebench.formats.word_vectors.label_words import RULES, LabelRule, LabelVector
from vsebench.formats.word_vectors.word_files import VectorsRead

NAMED = 5  # number of labels to name in a message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True, help="the data set's name")
    parser.add_argument("--name", required=True, help="the source's name in config/word_vectors")
    parser.add_argument("--definition", required=True, help="JSON object with keys such as adapter, options, aliases")
    parser.add_argument("--raw", type=Path, required=True, help="folder with the downloaded files")
    parser.add_argument("--labels", type=Path, required=True, help="labels.parquet of the data set")
    parser.add_argument("--out", type=Path, required=True, help="word_vectors.npz to write")
    parser.add_argument("--rules", type=Path, required=True, help="word_vectors.parquet to write")
    parser.add_argument("--summary", type=Path, required=True, help="word_vectors.json to write")


def run(arguments: argparse.Namespace) -> None:
    definition = check(WordVectorsDefinition, parse_definition(arguments.definition), f"{arguments.name}: --definition")
    check_recorded(arguments.raw)
    names = read_parquet(arguments.labels)["name"].to_list()
    read, label_vectors = find_all(arguments.raw, definition, names, arguments.name)
    missing = [name for name, label in zip(names, label_vectors, strict=True) if label.vector is None]
    report_missing(missing, len(names), definition, arguments)
    word_vectors = as_word_vectors(label_vectors, read.dimensions)
    write_arrays(arguments.out, vectors=word_vectors.vectors, known=word_vectors.known)
    write_table(rules_table(names, label_vectors), WORD_VECTORS, arguments.rules)
    about = {"dataset": arguments.dataset, "source": arguments.name, "dimensions": read.dimensions}
    write_json(about | coverage(label_vectors, word_vectors) | {"repeated": len(read.repeated)}, arguments.summary)


def find_all(
    raw: Path, definition: WordVectorsDefinition, names: Sequence[str], source: str
) -> tuple[VectorsRead, list[LabelVector]]:
    """Return the vectors that were read, and the vector of each label with the rule that found it."""
    adapter = load_adapter(definition.adapter, source, "read_vectors")
    options = check(adapter.Options, definition.options, f"{source}: options")
    bases = {} if definition.exceptions is None else read_exceptions(raw / definition.exceptions)
    rule = LabelRule(definition.aliases, bases)
    any_text = getattr(adapter, "ANY_TEXT", False)
    needed = {rule.text_of(name)[1] for name in names} if any_text else rule.words(names)
    read: VectorsRead = adapter.read_vectors(raw, options, sorted(needed - left_out(raw, definition)))
    if any_text:
        return read, [rule.find_text(name, read.vectors) for name in names]
    return read, [rule.find(name, read.vectors) for name in names]


def left_out(raw: Path, definition: WordVectorsDefinition) -> set[str]:
    """Return the words whose vectors must not be used."""
    if definition.without is None:
        return set()
    path = raw / definition.without
    try:
        return set(text_lines(path.read_bytes(), str(path)))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def report_missing(
    missing: Sequence[str], n_labels: int, definition: WordVectorsDefinition, arguments: argparse.Namespace
) -> None:
    """Report labels without a vector on standard error.

    Raise a `UserError` if no label has a vector, or if the source does not allow labels without one.
    """
    if not missing:
        return
    named = ", ".join(missing[:NAMED]) + (", ..." if len(missing) > NAMED else "")
    count = f"no word vector for {len(missing)} of {n_labels} labels of {arguments.dataset}"
    message = f"{arguments.name}: {count}: {named}"
    if len(missing) == n_labels:
        raise UserError(f"{message}; check the language and encoding of the file of word vectors")
    if definition.missing == "error":
        file = f"config/word_vectors/{arguments.name}.yaml"
        raise UserError(f"{message}; add words for them under `aliases` in {file}, or set missing: leave_out there")
    print(message, file=sys.stderr)


def as_word_vectors(label_vectors: Sequence[LabelVector], dimensions: int) -> WordVectors:
    """Return the vectors of all labels."""
    vectors = np.zeros((len(label_vectors), dimensions), dtype=np.float32)
    for row, label in zip(vectors, label_vectors, strict=True):
        if label.vector is not None:
            row[:] = label.vector
    return WordVectors(vectors, np.array([label.vector is not None for label in label_vectors]))


def rules_table(names: Sequence[str], label_vectors: Sequence[LabelVector]) -> pl.DataFrame:
    """Return the table `schemas.WORD_VECTORS`."""
    columns = {
        "label": range(len(names)),
        "name": names,
        "rule": [label.rule for label in label_vectors],
        "words": [" ".join(label.words) for label in label_vectors],
        "without": [" ".join(label.without) for label in label_vectors],
    }
    return pl.DataFrame(columns, schema=WORD_VECTORS)


def coverage(label_vectors: Sequence[LabelVector], word_vectors: WordVectors) -> dict[str, Any]:
    """Return statistics of the labels' word vectors.

    They are the number of labels, the number of labels for each rule, the number of labels that share their vector with
    another label, and the rank of the matrix of vectors.
    """
    rules = Counter(label.rule for label in label_vectors)
    sharing = Counter(vector.tobytes() for vector in word_vectors.vectors[word_vectors.known])
    return {
        "labels": len(label_vectors),
        "rules": {rule: rules[rule] for rule in RULES},
        "sharing": sum(number for number in sharing.values() if number > 1),
        "rank": int(np.linalg.matrix_rank(word_vectors.vectors.astype(np.float64))),
    }
