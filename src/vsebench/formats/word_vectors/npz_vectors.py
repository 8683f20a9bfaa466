"""Read word vectors from a NumPy .npz file with the arrays `words` and `vectors`.

For n words, the array `words` is text of shape (n,), and the array `vectors` contains numbers and has the shape (n, d).
`np.savez("vectors.npz", words=np.array(words), vectors=vectors)` writes such a file. The whole file is read into
memory.

The shape of `vectors` can also be (n, p, d). Then a word has p vectors, such as one for each prompt (a sentence with
the word). Each vector is scaled to length 1, and the mean of a word's vectors is used. Vectors of zeros are left out,
so a word can have fewer than p vectors.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from vsebench.core.errors import UserError
from vsebench.formats.numpy_files import load, texts
from vsebench.formats.own_files import find
from vsebench.formats.word_vectors.word_files import FileOptions, Kept, VectorsRead, mean_of_prompts

Options = FileOptions  # `member` is not used here


def read_vectors(raw: Path, options: Options, needed: Collection[str]) -> VectorsRead:
    """Read the vectors of the needed words."""
    path = find(raw, options.file)
    words, vectors = _arrays(path)
    if words.dtype.kind != "U" or vectors.dtype.kind not in "fiu":
        types = f"their types are {words.dtype} and {vectors.dtype}"
        raise UserError(f"{path}: `words` must be text and `vectors` numbers, but {types}")
    if vectors.ndim not in (2, 3) or words.shape != vectors.shape[:1] or not vectors.size:
        wanted = "give words (n,) and vectors (n, d), or (n, p, d) for several vectors per word"
        raise UserError(f"{path}: words have shape {words.shape}, vectors {vectors.shape}; {wanted}")
    kept = Kept(needed, vectors.shape[-1])
    for row, word in enumerate(texts(words, f"{path}: words")):
        name = word.encode(errors="surrogatepass")
        if kept.needs(name):
            vector = vectors[row] if vectors.ndim == 2 else mean_of_prompts(vectors[row])
            kept.add(name, vector, f"{path}: row {row + 1}")
    return kept.result()


def _arrays(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    arrays = load(path, ("words", "vectors"))
    if not isinstance(arrays, dict) or len(arrays) < 2:
        raise UserError(f"{path}: not an .npz file with the arrays words and vectors")
    return arrays["words"], arrays["vectors"]
