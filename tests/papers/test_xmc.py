"""The printed rows of the Extreme Classification Repository get a verdict only on the repository's own splits."""

from pathlib import Path

import polars as pl
import pytest

from tests.builders import frame
from vsebench.core.schemas import HISTORY, SUMMARY, TIMING
from vsebench.papers.base import Paper
from vsebench.papers.comparison import Ours, compare

PAPER = Paper.read(Path(__file__).parents[2] / "config" / "papers" / "xmc.yaml")


def compared_on(dataset, low=0.541, high=0.548):
    """Return the comparison if WSABIE's precision@1 is `low` to `high`, and the PSP@1 0.50, on a data set."""
    keys = {"dataset": dataset, "protocol": "official", "method": "wsabie", "decision": ""}
    lines = [
        keys | {"metric": "precision@1", "value": 0.544, "ci_low": low, "ci_high": high},
        keys | {"metric": "psp@1", "value": 0.5, "ci_low": 0.49, "ci_high": 0.51},
    ]
    empty = {name: pl.DataFrame(schema=schema) for name, schema in (("timing", TIMING), ("history", HISTORY))}
    return compare(PAPER, Ours(frame(lines, SUMMARY), real={dataset}, **empty))


def test_the_same_data_with_another_split_are_not_compared():
    assert len(compared_on("bibtex")) == 0


@pytest.mark.parametrize(("column", "verdict"), [("precision@1", "inside"), ("psp@1", "outside")])
def test_the_repositorys_splits_get_a_verdict(column, verdict):
    rows = compared_on("bibtex-xc").filter(column=column)
    assert rows.select("row", "method", "verdict").rows() == [("bibtex/wsabie", "wsabie", verdict)]


def test_an_interval_of_unknown_width_gives_no_verdict():
    rows = compared_on("bibtex-xc", low=0.0, high=1.0).filter(column="precision@1")
    assert rows["verdict"].to_list() == [None]
