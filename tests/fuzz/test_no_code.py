"""Files are data: their content is never executed."""

import ast
import io
import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests import data_sets
from vsebench.config.dataset import DatasetConfig
from vsebench.core.errors import UserError
from vsebench.core.storage import read_arrays, read_json, read_parquet
from vsebench.core.yaml_files import read_config

ROOT = Path(__file__).parents[2]
PYTHON = [*(ROOT / "src").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]
SNAKEMAKE = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "runpy"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "unsafe_load", "full_load", "load_all", "read_pickle"}


def faults_of(source):
    """Return the parts of a Python source that could execute the content of files."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            found += [name for name in names if name.split(".")[0] in FORBIDDEN_MODULES]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            found += [called] if called.rpartition(".")[2] in FORBIDDEN_CALLS and called != "re.compile" else []
            found += ["allow_pickle"] if keywords.get("allow_pickle", "False") != "False" else []
            found += [called] if called in ("np.load", "numpy.load") and "allow_pickle" not in keywords else []
            if called == "yaml.load":
                loader = ast.unparse(node.args[1]) if len(node.args) > 1 else keywords.get("Loader", "")
                found += [] if is_safe(loader) else [called]
    return found


def is_safe(loader):
    """Return whether a YAML loader makes only plain values, as the safe loaders in Python and in C do."""
    import vsebench.core.yaml_files

    kind = yaml.SafeLoader if loader == "yaml.SafeLoader" else getattr(vsebench.core.yaml_files, loader, object)
    plain, more = yaml.constructor.SafeConstructor, yaml.constructor.FullConstructor
    return issubclass(kind, plain) and not issubclass(kind, more)


def test_the_source_executes_nothing_that_it_reads():
    faults = {path: faults_of(path.read_text(encoding="utf-8")) for path in PYTHON}
    assert {path: of_file for path, of_file in faults.items() if of_file} == {}


def test_neither_does_the_workflow():
    text = "".join(path.read_text(encoding="utf-8") for path in SNAKEMAKE)
    assert [word for word in ("pickle", "eval(", "exec(", "yaml.load(") if word in text] == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "eval(text)",
        "yaml.load(text)",
        "yaml.load(text, yaml.Loader)",
        "yaml.unsafe_load(text)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.savez(path, allow_pickle=yes)",
    ],
)
def test_the_search_finds_what_it_looks_for(source):
    assert faults_of(source)


class Bomb:
    """An object that leaves a trace when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.fixture
def trace(tmp_path):
    yield tmp_path / "trace"
    assert not (tmp_path / "trace").exists(), "it was executed"


def refused(action, path):
    with pytest.raises(UserError) as error:
        action(path)
    assert len(str(error.value).splitlines()) == 1
    assert str(path) in str(error.value)


def test_a_pickle_in_an_npz_is_refused(trace, tmp_path):
    np.savez(tmp_path / "a.npz", image=np.array([Bomb(trace)], dtype=object))
    refused(read_arrays, tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("reader", "name"), [(read_arrays, "a.npz"), (read_parquet, "a.parquet"), (read_json, "a.json")]
)
def test_a_pickle_in_place_of_a_file_is_refused(trace, tmp_path, reader, name):
    (tmp_path / name).write_bytes(pickle.dumps(Bomb(trace)))
    refused(reader, tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:pathlib.Path.touch [{trace}]",
        "title: !!python/object/apply:os.system ['touch {trace}']",
        "!!python/object/new:pathlib.Path [{trace}]",
        "a: !!python/name:os.system ''",
        "a: !!python/module:os ''",
    ],
)
def test_yaml_that_asks_for_python_is_refused(trace, tmp_path, text):
    (tmp_path / "a.yaml").write_text(text.format(trace=trace))
    refused(lambda path: read_config(DatasetConfig, path), tmp_path / "a.yaml")


@pytest.mark.parametrize("save", [np.save, np.savez])
def test_a_pickle_in_a_users_features_is_refused_in_one_line(trace, tmp_path, capsys, save):
    table, features = tmp_path / "t.csv", tmp_path / ("f.npy" if save is np.save else "f.npz")
    table.write_text("image,label\na,b\n")
    save(features, np.array([[Bomb(trace)]], dtype=object))
    definition = {"adapter": "table", "options": {"pairs": str(table)}, "features": {"file": str(features)}}
    assert data_sets.prepare(definition, tmp_path / "raw", tmp_path / "out") == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert str(features) in said


def test_a_pickled_bomb_does_go_off(tmp_path):
    """Without this, the tests above would prove nothing."""
    pickle.load(io.BytesIO(pickle.dumps(Bomb(tmp_path / "trace"))))
    assert (tmp_path / "trace").exists()
