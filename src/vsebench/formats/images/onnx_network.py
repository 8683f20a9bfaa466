"""Run a network from an ONNX file with onnxruntime on the CPU."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError, missing_package, one_line

SIDE = 224  # height or width in pixels, if the file does not fix it
WEIGHTS_ELSEWHERE = b"\n\x08location\x12"  # marks an ONNX file whose tensors are in another file


class Network:
    """A network with one chosen output.

    Attributes
    ----------
    sha256 : checksum of the file, which contains all weights
    height, width : size of the input in pixels
    dimensions : length of the output per image
    """

    def __init__(self, path: Path, output: str, threads: int) -> None:
        """Load a network and test it on two blank images.

        Raises a `UserError` if onnxruntime is not installed; if the file is missing, is not an ONNX file or keeps its
        weights in another file; if its input is not (n, 3, height, width) float32; if it has no output of this name; or
        if the output is not one row of numbers per image.
        """
        try:
            import onnxruntime
        except ModuleNotFoundError as error:
            raise UserError(missing_package(str(error.name))) from None
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}") from None
        if WEIGHTS_ELSEWHERE in content:
            raise UserError(f"{path}: its weights are in another file; save the network as a single file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # errors only; they are raised as exceptions too
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common base class
            raise UserError(f"{path}: onnxruntime cannot load it ({one_line(error)})") from None
        self.path, self.output = path, output
        self.sha256 = hashlib.sha256(content).hexdigest()
        self._check_input()
        outputs = [node.name for node in self._session.get_outputs()]
        if output not in outputs:
            raise UserError(f"{path}: no output {output!r}; the outputs are {', '.join(map(repr, outputs))}")
        self.dimensions = self(np.zeros((2, 3, self.height, self.width), dtype=np.float32)).shape[1]

    def _check_input(self) -> None:
        inputs = self._session.get_inputs()
        shape: list[Any] = inputs[0].shape if len(inputs) == 1 else []
        free = [not isinstance(size, int) for size in shape]  # a free dimension has a name instead of a number
        if len(shape) != 4 or inputs[0].type != "tensor(float)" or not (free[1] or shape[1] == 3):
            actual = ", ".join(f"{node.name} {tuple(node.shape)} {node.type}" for node in inputs) or "none"
            raise UserError(f"{self.path}: its input must be (n, 3, height, width) float32, but is {actual}")
        self._input = inputs[0].name
        self._batch = None if free[0] else shape[0]  # a network can have a fixed number of images per batch
        self.height, self.width = (SIDE if free[i] else shape[i] for i in (2, 3))

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the output (n, dimensions) for images (n, 3, height, width); another shape raises a `UserError`."""
        size = self._batch or len(pixels)
        return np.concatenate([self._run(pixels[start : start + size]) for start in range(0, len(pixels), size)])

    def _run(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        n_images = len(pixels)
        if self._batch:
            pixels = np.concatenate([pixels, np.zeros((self._batch - n_images, *pixels.shape[1:]), dtype=np.float32)])
        try:
            (output,) = self._session.run([self.output], {self._input: pixels})
        except Exception as error:
            raise UserError(f"{self.path}: onnxruntime cannot run it ({one_line(error)})") from None
        # Global average pooling can return (n, dimensions, 1, 1).
        values = np.asarray(output)
        is_rows = values.ndim >= 2 and len(values) == len(pixels) and values[0].size == values.shape[1]
        if not is_rows or values.dtype.kind != "f":
            shape = f"{values.shape} of {values.dtype} for {len(pixels)} images"
            raise UserError(f"{self.path}: the output {self.output!r} is {shape}, not one row of numbers per image")
        return values.reshape(len(values), -1)[:n_images].astype(np.float32)
