"""Load a network from an ONNX file with onnxruntime, to run it on the CPU."""

from pathlib import Path
from typing import Any

from vsebench.core.errors import UserError, missing_package, one_line

WEIGHTS_ELSEWHERE = b"\n\x08location\x12"  # marks an ONNX file whose tensors are in another file


def load_network(path: Path, output: str, threads: int) -> tuple[Any, bytes]:
    """Return an onnxruntime session for the network in a file, and the content of the file.

    The file contains all weights of the network. The session uses `threads` threads. Raises a `UserError` if
    onnxruntime is not installed; if the file is missing, is not an ONNX file or keeps its weights in another file; or
    if the network has no output with the name in `output`.
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
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base class
        raise UserError(f"{path}: onnxruntime cannot load it ({one_line(error)})") from None
    outputs = [node.name for node in session.get_outputs()]
    if output not in outputs:
        raise UserError(f"{path}: no output {output!r}; the outputs are {', '.join(map(repr, outputs))}")
    return session, content


def inputs_of(session: Any) -> str:
    """Return the names, shapes and types of a network's inputs, for a message."""
    return ", ".join(f"{node.name} {tuple(node.shape)} {node.type}" for node in session.get_inputs()) or "none"
