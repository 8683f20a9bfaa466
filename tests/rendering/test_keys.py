"""Tables of keys: types in words, defaults, and the comments of a type as meanings."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from vsebench.core.configuration import Strict
from vsebench.core.errors import UserError
from vsebench.rendering.keys import keys, rows, settings, table, words

Share = Annotated[float, Field(gt=0, lt=1)]


class Part(Strict):
    """A section."""

    size: int = Field(ge=1)  # of the part


class Base(Strict):
    """What both types below are derived from."""

    # The first line,
    # and the second.
    names: list[str] = Field(default=[])
    depth: int | None = None  # none: "é|" and all


class Made(Base):
    """A type with all that a type can have."""

    depth: int | None = 3
    kind: Literal["one", "two", "three"] = "two"
    parts: dict[str, Part]  # name -> part
    first: Part | None = None  # if given: the first one
    several: list[Part] = Field(
        default=[],
    )  # in order
    free: dict[str, Any] = Field(default={})


class Bare(Strict):
    """Settings without a key."""


def test_a_key_has_its_type_default_and_meaning_and_sections_follow_with_dots() -> None:
    assert list(rows(Made)) == [
        ("`names`", "list of texts", "empty", "The first line, and the second."),
        ("`depth`", "whole number or `null`", "`3`", 'none: "é\\|" and all'),
        ("`kind`", "`one`, `two` or `three`", "`two`", ""),
        ("`parts`", "mapping to sections", "needed", "name -> part"),
        ("`parts.<name>.size`", "whole number >= 1", "needed", "of the part"),
        ("`first`", "section", "none", "if given: the first one"),
        ("`first.size`", "whole number >= 1", "needed", "of the part"),
        ("`several`", "list of sections", "empty", "in order"),
        ("`several[].size`", "whole number >= 1", "needed", "of the part"),
        ("`free`", "mapping", "empty", ""),
    ]


def test_a_table_in_markdown() -> None:
    head = "| key | type | default | meaning |\n|---|---|---|---|\n"
    assert table(Part) == head + "| `size` | whole number >= 1 | needed | of the part |"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, "text"),
        (bool, "`true` or `false`"),
        (Share, "number > 0, < 1"),
        (Share | Literal["all"], "number > 0, < 1 or `all`"),
        (list[Share], "list of numbers > 0, < 1"),
        (tuple[int, ...], "list of whole numbers"),
        (list[int | float], "list of numbers"),
        (dict[str, list[str]], "mapping to lists of texts"),
        (dict[str, dict[str, Any]], "mapping to mappings"),
        (list[Any], "list"),
        (Literal[True], "`true`"),
    ],
)
def test_a_type_in_words(annotation: Any, expected: str) -> None:
    assert words(annotation) == expected


def test_null_is_named_where_it_is_not_the_default() -> None:
    assert words(int | None) == "whole number or `null`"
    assert words(int | None, optional=True) == "whole number"


def test_modules_of_one_type_share_a_table_and_those_without_settings_are_named() -> None:
    text = settings({"warp": Part, "popularity": Bare, "opt_auc": Part})
    assert text.startswith("### `warp`, `opt_auc`\n\n- `warp`: WARP as WSABIE defines it: ")
    assert text.count("| `size` |") == 1
    assert text.endswith("\n\nWithout settings: `popularity`.")


def test_a_name_that_is_no_type_is_one_line() -> None:
    with pytest.raises(
        UserError, match=r"^page\.md: keys: json: this is none of methods, decisions, adapters and the types of "
    ):
        keys("json", "page.md: keys: json")
