"""Compute label vectors with a text network in an ONNX file, such as CLIP's text tower.

A prompt is a sentence with a label's name in place of `{}`. It is divided into tokens, and the network turns the tokens
into a vector. The vectors of a label's prompts are scaled to length 1, and their mean is the label's vector.

- The tokeniser is read from a file tokenizer.json in the format of the Python package `tokenizers`. For CLIP, it must
  add the tokens that mark the start and the end of a text, as the files published with the models do. Texts with more
  tokens than the network takes are truncated.
- The input of the network is an array of token ids, (n, length) whole numbers, with one row per text. Shorter texts are
  padded with zeros. If the network does not fix the length, texts are padded to the length of the longest text in a
  batch. An optional second input, `attention_mask`, is 1 for tokens and 0 for padding.
- The output of the network is an array (n, d), with one vector per text.

Source: Radford and others, "Learning transferable visual models from natural language supervision", ICML 2021; section
3.1.4 describes the use of several prompts.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError, missing_package, one_line
from vsebench.core.yaml_files import Strict
from vsebench.data.chunks import even_chunks
from vsebench.formats.onnx_session import inputs_of, load_network
from vsebench.formats.own_files import find
from vsebench.formats.word_vectors.word_files import Kept, VectorsRead, mean_of_prompts

ANY_TEXT = True  # the network makes a vector for any text
PACKAGES = ("onnxruntime", "tokenizers")
BATCH = 64  # number of prompts in a batch, if the network does not fix it
TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
MASK = "attention_mask"


class Options(Strict):
    """The text network, its tokeniser and the prompts."""

    file: str = Field(pattern=r"\.onnx$")  # the network: a name that the configuration lists under `files`, or a path
    tokenizer: str = Field(pattern=r"\.json$")  # the network's tokenizer.json: a name or a path, as for `file`
    output: str = Field(min_length=1)  # the name of one of the network's outputs
    prompts: list[str] = Field(default=["a photo of a {}."], min_length=1)  # sentences with {} in place of the label
    length: int = Field(default=77, ge=1)  # the largest number of tokens of a text, if the network does not fix it

    @field_validator("prompts")
    @classmethod
    def _places(cls, prompts: list[str]) -> list[str]:
        wrong = next((prompt for prompt in prompts if prompt.count("{}") != 1), None)
        if wrong is not None:
            needed = "{prompt}: must contain {} exactly once, in place of the label"
            raise PydanticCustomError("prompts", needed, {"prompt": wrong})
        return prompts


def read_vectors(raw: Path, options: Options, needed: Collection[str]) -> VectorsRead:
    """Compute the vector of each needed text."""
    network = TextNetwork(find(raw, options.file), options.output, options.length)
    tokens = Tokens(find(raw, options.tokenizer), network.length)
    texts = list(dict.fromkeys(needed))
    prompts = [prompt.replace("{}", text) for text in texts for prompt in options.prompts]
    vectors = network(tokens(prompts))
    kept = Kept(texts, vectors.shape[1])
    for text, of_prompts in zip(texts, np.split(vectors, len(texts)), strict=True):
        kept.add(text.encode(), mean_of_prompts(of_prompts), str(network.path))
    return kept.result()


class Tokens:
    """Divides texts into tokens, at most `length` per text."""

    def __init__(self, path: Path, length: int) -> None:
        try:
            from tokenizers import Tokenizer
        except ModuleNotFoundError as error:
            raise UserError(missing_package(str(error.name))) from None
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises plain exceptions
            raise UserError(f"{path}: not a file of the package tokenizers ({one_line(error)})") from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(length)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]


class TextNetwork:
    """A network that turns the tokens of a text into a vector; `output` names the output that is used.

    Attributes
    ----------
    path : path of the ONNX file
    length : the largest number of tokens of a text
    """

    def __init__(self, path: Path, output: str, length: int) -> None:
        """Load a network; raise a `UserError` if its file, inputs or output are not valid.

        `length` is the largest number of tokens of a text, for a network that does not fix this number.
        """
        # One thread, so that vectors do not depend on the number of threads.
        self._session, _ = load_network(path, output, threads=1)
        self.path, self._output = path, output
        inputs = {node.name: node for node in self._session.get_inputs()}
        self._mask = inputs.pop(MASK, None)
        tokens = next(iter(inputs.values())) if len(inputs) == 1 else None
        if tokens is None or len(tokens.shape) != 2 or tokens.type not in TYPES:
            wanted = "must have one input of tokens, an array (n, length) of whole numbers"
            raise UserError(f"{path}: {wanted}, but has {inputs_of(self._session)}")
        self._tokens = tokens
        n, fixed = tokens.shape
        self._batch = n if isinstance(n, int) else None
        self._fixed = fixed if isinstance(fixed, int) else None
        self.length = self._fixed or length

    def __call__(self, tokens: Sequence[list[int]]) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, d), given the token ids of each text."""
        parts = even_chunks(len(tokens), self._batch or BATCH)
        return np.concatenate([self._run(tokens[start:stop]) for start, stop in parts])

    def _run(self, tokens: Sequence[list[int]]) -> NDArray[np.float32]:
        """Return the vectors of a batch; if the network fixes the number of texts, empty texts fill up the batch."""
        shape = self._batch or len(tokens), self._fixed or max(1, *map(len, tokens))
        numbers = np.zeros(shape, dtype=TYPES[self._tokens.type])
        mask = np.zeros(shape, dtype=np.int64)
        for row, of_text in enumerate(tokens):
            numbers[row, : len(of_text)], mask[row, : len(of_text)] = of_text, 1
        inputs: dict[str, Any] = {self._tokens.name: numbers}
        if self._mask is not None:
            inputs[MASK] = mask.astype(TYPES.get(self._mask.type, np.int64))
        try:
            (output,) = self._session.run([self._output], inputs)
        except Exception as error:  # onnxruntime's errors have no common base class
            raise UserError(f"{self.path}: onnxruntime cannot run it ({one_line(error)})") from None
        values = np.asarray(output)
        if values.ndim != 2 or len(values) != len(numbers) or values.dtype.kind != "f":
            actual = f"shape {values.shape} and type {values.dtype} for {len(numbers)} texts"
            wanted = "must have one row of floating-point numbers per text"
            raise UserError(f"{self.path}: the output {self._output!r} has {actual}, but {wanted}")
        return values[: len(tokens)].astype(np.float32)
