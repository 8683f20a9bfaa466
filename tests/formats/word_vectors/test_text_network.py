"""Label vectors from a text network, with networks and tokenisers that are written here."""

import json

import numpy as np
import pytest

from tests import onnx_files
from vsebench.core.errors import UserError
from vsebench.core.yaml_files import check
from vsebench.formats.word_vectors import text_network
from vsebench.formats.word_vectors.label_words import LabelRule

REASON = "optional, `make setup-images` installs it"
WORDS = ["a", "photo", "of", "the", "sky", "polar", "bear", "."]
NUMBER = {"<other>": 1, "<start>": 2, "<end>": 3} | {word: number for number, word in enumerate(WORDS, 4)}
TABLE = np.vstack([np.zeros(5), np.random.default_rng(3).normal(size=(len(NUMBER), 5))])  # fills up with zeros


@pytest.fixture
def folder(tmp_path):
    """A folder with the network text.onnx and its tokenizer.json."""
    pytest.importorskip("onnxruntime", reason=REASON)
    pytest.importorskip("tokenizers", reason=REASON)
    (tmp_path / "text.onnx").write_bytes(onnx_files.text_network(TABLE))
    (tmp_path / "tokenizer.json").write_text(json.dumps(onnx_files.tokenizer(WORDS)))
    return tmp_path


def read(folder, texts, **options):
    options = {"file": "text.onnx", "tokenizer": "tokenizer.json", "output": "text"} | options
    return text_network.read_vectors(folder, check(text_network.Options, options, "options"), texts)


def vector(*words):
    """Return the network's output for words, scaled to length 1."""
    total = TABLE[[NUMBER[word] for word in ("<start>", *words, "<end>")]].sum(axis=0)
    return total / np.linalg.norm(total)


def test_the_vector_of_a_label_is_that_of_its_prompt(folder):
    found = read(folder, ["sky", "Polar bear"])
    assert found.dimensions == 5
    np.testing.assert_allclose(found.vectors["sky"], vector("a", "photo", "of", "a", "sky", "."), rtol=1e-5)
    bear = vector("a", "photo", "of", "a", "polar", "bear", ".")
    np.testing.assert_allclose(found.vectors["Polar bear"], bear, rtol=1e-5)


def test_vectors_of_several_prompts_are_averaged_at_length_1(folder):
    found = read(folder, ["sky", "bear"], prompts=["{}", "the {}.", "of {} photo of"])
    prompts = [vector("sky"), vector("the", "sky", "."), vector("of", "sky", "photo", "of")]
    np.testing.assert_allclose(found.vectors["sky"], np.mean(prompts, axis=0), rtol=1e-5)


@pytest.mark.parametrize("shape", [("n", 12), (3, 12), (3, "length"), (1, 7)])
@pytest.mark.parametrize("kind", [onnx_files.INT64, 6])
def test_networks_with_fixed_numbers_of_texts_and_tokens_give_the_same(folder, shape, kind):
    texts = ["sky", "polar bear", "the", "photo"]
    expected = read(folder, texts, prompts=["the {}", "a {}."]).vectors
    (folder / "text.onnx").write_bytes(onnx_files.text_network(TABLE, shape, kind, mask=True))
    found = read(folder, texts, prompts=["the {}", "a {}."]).vectors
    for text in texts:
        np.testing.assert_allclose(found[text], expected[text], rtol=1e-5, atol=1e-6)


def test_a_text_that_is_too_long_is_cut_before_its_end_token(folder):
    (folder / "text.onnx").write_bytes(onnx_files.text_network(TABLE, ("n", 5)))
    np.testing.assert_allclose(
        read(folder, ["sky"], prompts=["the photo of {}"]).vectors["sky"], vector("the", "photo", "of"), rtol=1e-5
    )


def test_many_labels_are_the_same_as_one_by_one(folder):
    texts = [f"{'polar ' * (number % 7)}sky {number}" for number in range(150)]
    together = read(folder, texts).vectors
    for text in texts[::29]:
        np.testing.assert_allclose(read(folder, [text]).vectors[text], together[text], rtol=1e-5)


def test_a_network_that_is_no_text_network_is_refused_in_one_line(folder):
    (folder / "text.onnx").write_bytes(onnx_files.network())
    with pytest.raises(UserError, match=r"no output 'text'; the outputs are 'pixels'"):
        read(folder, ["sky"])
    with pytest.raises(
        UserError, match=r"must have one input of tokens, an array \(n, length\) of whole numbers, but has image"
    ):
        read(folder, ["sky"], output="pixels")
    (folder / "text.onnx").write_bytes(b"no network")
    with pytest.raises(UserError, match=r"text\.onnx: onnxruntime cannot load it"):
        read(folder, ["sky"])


def test_a_token_that_the_network_does_not_know_is_one_line(folder):
    (folder / "text.onnx").write_bytes(onnx_files.text_network(TABLE[:4]))
    with pytest.raises(UserError, match=r"text\.onnx: onnxruntime cannot run it"):
        read(folder, ["sky"])


def test_a_tokeniser_of_another_format_is_one_line(folder):
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match=r"tokenizer\.json: not a file of the package tokenizers"):
        read(folder, ["sky"])


@pytest.mark.parametrize("prompts", [["a photo"], ["{} and {}"], []])
def test_a_prompt_without_a_place_for_the_label_is_refused(prompts):
    options = {"file": "t.onnx", "tokenizer": "t.json", "output": "text", "prompts": prompts}
    with pytest.raises(UserError, match="prompts"):
        check(text_network.Options, options, "options")


def test_the_text_of_a_label_is_its_alias_or_its_name_in_words():
    rule = LabelRule({"tvmonitor": "television"}, {})
    assert rule.text_of("TVmonitor") == ("alias", "television")
    assert rule.text_of("polar_bear") == ("whole", "polar bear")
    assert rule.text_of("n02084071 dog") == ("whole", "dog")
    found = rule.find_text("polar_bear", {"polar bear": np.ones(2, dtype=np.float32)})
    assert (found.rule, found.words) == ("whole", ("polar bear",))
    assert rule.find_text("sky", {}).rule == "missing"
