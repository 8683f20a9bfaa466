import importlib
from collections.abc import Sized

import pytest

from vsebench.core import modules
from vsebench.core.errors import UserError


@pytest.fixture
def define(tmp_path, monkeypatch):
    """Return a function that writes modules into the folder `things` of a package; each test has its own package."""
    folder = tmp_path / "things"
    folder.mkdir()
    monkeypatch.setattr(modules, "PACKAGE", tmp_path)
    monkeypatch.syspath_prepend(tmp_path.parent)

    def write(find=modules.modules_that_define, **texts):
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        modules.modules_in.cache_clear()
        named = "THINGS" if find is not modules.classes_by_name else Sized
        return find.__wrapped__(named, "things")

    yield write
    modules.modules_in.cache_clear()


def test_a_name_is_found_in_whichever_module_defines_it(define):
    definers = define(first="THINGS = {'b': 1}", second="THINGS = {'a': 2, 'c': 3}", base="")
    assert {name: module.__name__.rpartition(".")[2] for name, module in definers.items()} == {
        "a": "second",
        "b": "first",
        "c": "second",
    }


def test_a_name_in_two_modules_is_one_line(define):
    with pytest.raises(UserError, match=r"second\.py: THINGS: 'a' is also in .*first\.py"):
        define(first="THINGS = {'a': 1}", second="THINGS = {'a': 2}")


def test_a_module_without_names_is_one_line(define):
    with pytest.raises(UserError, match=r"first\.py: there is no THINGS; set it to a dictionary"):
        define(first="class First: pass")


def test_a_key_is_found_without_an_import(define):
    texts = {"first": "import missing\nTHINGS: dict = {'b': 1}", "second": 'THINGS = {\n    "a": 2,\n    "c": 3,\n}'}
    found = define(modules.modules_by_key, **texts)
    assert {key: module.rpartition(".")[2] for key, module in found.items()} == {
        "a": "second",
        "b": "first",
        "c": "second",
    }


def test_a_key_in_two_modules_is_one_line(define):
    with pytest.raises(UserError, match=r"second: THINGS: 'a' is also in .*first"):
        define(modules.modules_by_key, first="THINGS = {'a': 1}", second="THINGS = {'a': 2}")


IMPORT = "from collections.abc import Sized\n"


def test_a_class_is_found_by_its_name_unless_it_is_abstract(define):
    first = f"{IMPORT}class Half(Sized): ...\nclass TwoWords(Half):\n    def __len__(self): ...\nclass Other: ..."
    found = define(modules.classes_by_name, first=first)
    assert {name: kind.__name__ for name, kind in found.items()} == {"two_words": "TwoWords"}


def test_a_class_name_in_two_modules_is_one_line(define):
    text = f"{IMPORT}class Same(Sized):\n    def __len__(self): ..."
    with pytest.raises(UserError, match=r"second: .*first has a class Same as well"):
        define(modules.classes_by_name, first=text, second=text)
