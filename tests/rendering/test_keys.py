"""Tables of keys: types in words, defaults, and the comments of a type as meanings."""

from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.rendering.keys import keys, rows, settings, shared_types, words

Share = Annotated[float, Field(gt=0, lt=1)]


class Part(Strict):
    """A section."""

    size: int = Field(ge=1)  # of the part


class Base(Strict):
    """What the types below are derived from."""

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


class Deeper(Base):
    """Another default."""

    depth: int | None = 2


class Deepest(Deeper):
    """The first default again, and a further key."""

    depth: int | None = None
    size: int  # of all


class Bare(Strict):
    """Settings without a key."""


def test_a_key_has_its_type_default_and_meaning_and_sections_follow_with_dots() -> None:
    assert list(rows(Made)) == [
        ("`names`", "list of texts", "empty", "The first line, and the second."),
        ("`depth`", "integer or `null`", "`3`", 'none: "é\\|" and all'),
        ("`kind`", "`one`, `two` or `three`", "`two`", ""),
        ("`parts`", "mapping to sections", "required", "name -> part"),
        ("`parts.<name>.size`", "integer >= 1", "required", "of the part"),
        ("`first`", "section", "none", "if given: the first one"),
        ("`first.size`", "integer >= 1", "required", "of the part"),
        ("`several`", "list of sections", "empty", "in order"),
        ("`several[].size`", "integer >= 1", "required", "of the part"),
        ("`free`", "mapping", "empty", ""),
    ]


def test_a_table_in_markdown() -> None:
    assert keys("Epochs", "page.md").splitlines()[:3] == [
        "| key | type | default | meaning |",
        "|---|---|---|---|",
        "| `maximum` | integer >= 1 | required | largest number of epochs |",
    ]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, "text"),
        (bool, "`true` or `false`"),
        (Share, "number > 0, < 1"),
        (Share | Literal["all"], "number > 0, < 1 or `all`"),
        (list[Share], "list of numbers > 0, < 1"),
        (tuple[int, ...], "list of integers"),
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
    assert words(int | None) == "integer or `null`"
    assert words(int | None, optional=True) == "integer"


def test_settings_that_modules_share_have_one_section_and_a_module_lists_what_it_adds_or_changes() -> None:
    models = {"a": Base, "b": Deeper, "c": Deepest, "d": Bare, "e": Deeper}
    types = {
        ModuleType(f"vsebench.methods.{name}", f"What {name} is.\n\nMore."): model for name, model in models.items()
    }
    shared = shared_types(types.values())
    assert shared == [Base, Deeper]
    assert settings({base: base for base in shared}, shared, summaries=True).split("\n\n") == [
        "### `Base`",
        "What the types below are derived from.",
        "- `names` (list of texts; empty): The first line, and the second.\n"
        '- `depth` (integer; none): none: "é\\|" and all',
        "### `Deeper`",
        "Another default.",
        "Shared settings: [Base](#base).",
        '- `depth` (integer or `null`; `2`): none: "é\\|" and all',
    ]
    assert settings(types, shared, summaries=False).split("\n\n") == [
        *("### `a`", "Shared settings: [Base](#base)."),
        *("### `b`, `e`", "Shared settings: [Deeper](#deeper), [Base](#base)."),
        *("### `c`", "Shared settings: [Deeper](#deeper), [Base](#base)."),
        '- `depth` (integer; none): none: "é\\|" and all\n- `size` (integer; required): of all',
        "Without settings: `d`.",
    ]


def test_a_summary_is_the_first_paragraph_of_a_module() -> None:
    text = settings({ModuleType("vsebench.formats.a", "What a\nis.\n\nMore."): Part}, [], summaries=True)
    assert text == "### `a`\n\nWhat a\nis.\n\n- `size` (integer >= 1; required): of the part"


def test_a_name_that_is_no_type_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^page\.md: keys: json: there is no type 'json' in src/vsebench/config$"):
        keys("json", "page.md: keys: json")
