"""What a job of the workflow reads besides its split, and the options that name it, both from `vsebench.data.needs`."""

from collections.abc import Iterable

from vsebench.core.places import Place
from vsebench.data.needs import FEATURES, FILE_NEEDS, NEEDS, TRUTH, provided
from vsebench.plan.plan import Plan


def needs_read(plan: Plan, rows: Iterable[str], place: Place) -> set[str]:
    """Return the keys of the needs that jobs of some rows read at a place.

    An oracle can need an image's features for the probabilities of its labels, where the place has some.
    """
    keys: set[str] = set().union(*(plan.method_class(row).needs for row in rows))
    return keys | {FEATURES.key} if TRUTH.key in keys and has_features(plan, place) else keys


def has_features(plan: Plan, place: Place) -> bool:
    """Return whether a place has features of its images."""
    return FEATURES.key in provided(plan.data_of(place))


def need_files(plan: Plan, keys: Iterable[str], place: Place, split: str = "") -> list[str]:
    """Return the files that a job reads for these needs; `split` is the folder of its split."""
    data, asked = plan.data_of(place), set(keys)
    return [path for key, need in NEEDS.items() if key in asked for path in need.files(data, split)]


def need_options(plan: Plan, keys: Iterable[str], place: Place) -> str:
    """Return the options that name these files; the first file of a need is the one that its option names."""
    data, asked = plan.data_of(place), set(keys)
    return " ".join(f"{need.option} {need.files(data, '')[0]}" for need in FILE_NEEDS if need.key in asked)
