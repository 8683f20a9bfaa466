"""Settings at the bounds of what a method allows: a fit ends with finite scores or in one line."""

from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vsebench
from tests.methods.test_extreme_inputs import FEATURES, LABELS, WORDS, names
from vsebench.core.errors import UserError
from vsebench.library import _variant
from vsebench.methods.base import LARGEST, LARGEST_INTEGER, SMALLEST

NUMBERS = [0.0, SMALLEST, 1e-8, 0.5, float(np.nextafter(1, 0)), 1.0, 2.0, 1e8, LARGEST]
COUNTS = [0, 1, 2, 50]
OTHERS = [None, False, True, (), (1,), (3, 2), ("l2",), ("standard", "root")]
OTHERS += [{"relative": SMALLEST}, {"relative": LARGEST}]
# A fit takes the longer, the larger these settings are.
WORK = {
    "components", "factors", "iterations", "latent", "negatives", "pairs", "positives", "presampled", "rounds",
    "stages", "steps", "trials", "turns",
}  # fmt: skip


def one_name_per_method():
    return list({_variant(name, 8, None).method: name for name in reversed(names())}.values())


def texts_in(schema):
    """Return the texts that a setting can be, from its JSON schema."""
    if isinstance(schema, list):
        return [text for part in schema for text in texts_in(part)]
    if not isinstance(schema, dict):
        return []
    own = [text for text in schema.get("enum", []) if isinstance(text, str)]
    return own + [text for part in schema.values() for text in texts_in(part)]


def is_allowed(name, setting, value):
    try:
        _variant(name, 8, {setting: value})
    except UserError:
        return False
    return True


@cache
def values_of(name):
    """Map each setting of a variant to the values to try; other settings can make some of them impossible."""
    properties = type(_variant(name, 8, None).settings).model_json_schema()["properties"]
    found = {}
    for setting, schema in properties.items():
        values = [*NUMBERS, *COUNTS, *OTHERS, *texts_in(schema), *([] if setting in WORK else [LARGEST_INTEGER])]
        found[setting] = [value for value in values if is_allowed(name, setting, value)]
    return {setting: values for setting, values in found.items() if values}


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("learning_rate", 1e31, "learning_rate: is 1e+31, but its magnitude must be 0 or between 1e-30 and 1e+30"),
        ("learning_rate", 1e-31, "learning_rate: is 1e-31, but its magnitude must be 0 or between 1e-30 and 1e+30"),
        ("learning_rate", np.inf, "learning_rate: is inf, but its magnitude must be 0 or between 1e-30 and 1e+30"),
        ("factors", 2**31, "factors: is 2147483648, but must be at most 2147483647"),
    ],
)
def test_numbers_of_a_senseless_size_are_refused(setting, value, message):
    with pytest.raises(UserError) as refused:
        vsebench.fit("warp", LABELS, settings={setting: value})
    assert str(refused.value) == f"warp: settings: {message}"


@pytest.mark.long
@pytest.mark.parametrize("name", one_name_per_method())
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_fit_ends_with_finite_scores_or_in_one_line(name, data):
    strategies = {setting: st.sampled_from(values) for setting, values in values_of(name).items()}
    drawn = data.draw(st.fixed_dictionaries({}, optional=strategies))
    epochs = {} if _variant(name, 8, None).epochs is None else {"epochs": 1}
    inputs = {"features": FEATURES, "word_vectors": WORDS, "factors": 8} | epochs
    with suppress(UserError):  # whose message is always one line
        _, scores = vsebench.fit(name, LABELS, settings=drawn, **inputs).top(k=1)
        assert np.isfinite(scores).all()
