"""A network in an ONNX file, run by onnxruntime on the CPU."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError, missing_package

SIDE = 224  # pixels, where the file leaves height or width free
WEIGHTS_ELSEWHERE = b"\n\x08location\x12"  # how a tensor in an ONNX file names the file that has its numbers


class Network:
    """One output of a network.

    Attributes
    ----------
    sha256 : of the file, which has all weights
    height, width : of its input, in pixels
    dimensions : numbers per image of the output
    """

    def __init__(self, path: Path, output: str, threads: int) -> None:
        """Load a network and try it on two images.

        Raises
        ------
        UserError
            onnxruntime is not installed; the file is missing, is no ONNX file or has its weights elsewhere; its input
            is not (n, 3, height, width) of float32; or it has no output of this name, or one that does not give a row
            of numbers per image.
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
            raise UserError(f"{path}: its weights are in another file; save the network as one file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # errors; what is wrong comes as an exception
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a dozen kinds of errors without a common one
            raise UserError(f"{path}: onnxruntime cannot load it ({one_line(error)})") from None
        self.path, self.output = path, output
        self.sha256 = hashlib.sha256(content).hexdigest()
        self._check_input()
        known = [one.name for one in self._session.get_outputs()]
        if output not in known:
            raise UserError(f"{path}: no output {output!r}; the outputs are {', '.join(map(repr, known))}")
        self.dimensions = self(np.zeros((2, 3, self.height, self.width), dtype=np.float32)).shape[1]

    def _check_input(self) -> None:
        inputs = self._session.get_inputs()
        shape: list[Any] = inputs[0].shape if len(inputs) == 1 else []
        free = [not isinstance(size, int) for size in shape]  # a name in place of a number
        if len(shape) != 4 or inputs[0].type != "tensor(float)" or not (free[1] or shape[1] == 3):
            found = ", ".join(f"{one.name} {tuple(one.shape)} {one.type}" for one in inputs) or "none"
            raise UserError(f"{self.path}: its input should be (n, 3, height, width) of float32; it has {found}")
        self._input = inputs[0].name
        self._batch = None if free[0] else shape[0]  # a file can fix the number of images
        self.height, self.width = (SIDE if free[i] else shape[i] for i in (2, 3))

    def __call__(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the output (n, dimensions) for images (n, 3, height, width); a `UserError` if it has no such shape."""
        size = self._batch or len(pixels)
        return np.concatenate([self._run(pixels[start : start + size]) for start in range(0, len(pixels), size)])

    def _run(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        n_images = len(pixels)
        if self._batch:
            pixels = np.concatenate([pixels, np.zeros((self._batch - n_images, *pixels.shape[1:]), dtype=np.float32)])
        try:
            (found,) = self._session.run([self.output], {self._input: pixels})
        except Exception as error:
            raise UserError(f"{self.path}: onnxruntime cannot run it ({one_line(error)})") from None
        # What an average over all pixels leaves can be (n, dimensions, 1, 1).
        values = np.asarray(found)
        is_rows = values.ndim >= 2 and len(values) == len(pixels) and values[0].size == values.shape[1]
        if not is_rows or values.dtype.kind != "f":
            is_shape = f"{values.shape} of {values.dtype} for {len(pixels)} images"
            raise UserError(f"{self.path}: the output {self.output!r} is {is_shape}; one row of numbers each is needed")
        return values.reshape(len(values), -1)[:n_images].astype(np.float32)


def one_line(error: Exception) -> str:
    """Return the beginning of an error's message."""
    return " ".join(str(error).split())[:200]
