import numpy as np
import polars as pl
import pytest

from vsebench.evaluation.growth import exponents


def planted(*slopes):
    """Seconds that grow by an exact power of the size in each repeat."""
    sizes = np.array([100, 200, 400])
    tables = [
        pl.DataFrame({"size": sizes, "seconds": 0.5 * sizes**slope, "repeat": repeat})
        for repeat, slope in enumerate(slopes)
    ]
    return pl.concat(tables).with_columns(method=pl.lit("vse_fs"), variable=pl.lit("pairs"))


# The 97.5 % points of Student's t, as tables print them, by degrees of freedom.
@pytest.mark.parametrize(
    ("slopes", "t"),
    [([1.0, 1.2], 12.7062047362), ([0.9, 1.0, 1.4], 4.3026527299), ([1.1, 0.8, 1.0, 1.2], 3.1824463053)],
)
def test_the_interval_of_an_exponent_is_students(slopes, t):
    (row,) = exponents(planted(*slopes)).rows(named=True)
    half = t * np.std(slopes, ddof=1) / np.sqrt(len(slopes))
    assert row["exponent"] == pytest.approx(np.mean(slopes), rel=1e-9)
    assert row["ci_low"] == pytest.approx(np.mean(slopes) - half, rel=1e-6, abs=1e-9)
    assert row["ci_high"] == pytest.approx(np.mean(slopes) + half, rel=1e-6)


def test_the_interval_has_the_exponents_between_neighbouring_sizes_in_it():
    """Seconds of 1 + size: an exponent of nearly 0 for small sizes, and of nearly 1 for large ones."""
    sizes = np.array([0.01, 0.02, 50, 100])
    table = pl.concat(
        pl.DataFrame({"size": sizes, "seconds": 1 + sizes, "repeat": repeat}) for repeat in (1, 2)
    ).with_columns(method=pl.lit("vse_fs"), variable=pl.lit("pairs"))
    (row,) = exponents(table).rows(named=True)
    assert row["ci_low"] == pytest.approx(0.0142, abs=1e-3)
    assert row["ci_high"] == pytest.approx(0.986, abs=1e-3)


def test_one_repeat_gives_an_exponent_without_bounds():
    (row,) = exponents(planted(1.3)).rows(named=True)
    assert row["exponent"] == pytest.approx(1.3)
    assert (row["ci_low"], row["ci_high"]) == (-np.inf, np.inf)
