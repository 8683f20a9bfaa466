"""Files of ILSVRC 2010 in the official layout, written with SciPy."""

import io

import numpy as np
from scipy.io import savemat

KIT = "ILSVRC2010_devkit-1.0.tar.gz"
VALID_TRUTH, TEST_TRUTH = (f"ILSVRC2010_{part}_ground_truth.txt" for part in ("validation", "test"))


def structs(rows):
    """Return a struct array from dictionaries with the same keys; each value is a field."""
    array = np.empty((1, len(rows)), dtype=[(name, object) for name in rows[0]] if rows else [("ID", object)])
    for i, row in enumerate(rows):
        array[0, i] = tuple(row.values())
    return array


def mat(variables, compressed=True):
    buffer = io.BytesIO()
    savemat(buffer, variables, do_compression=compressed)
    return buffer.getvalue()


def synset(number, wnid, words, n_train=0, children=()):
    return {
        "ILSVRC2010_ID": float(number),
        "WNID": wnid,
        "words": words,
        "gloss": "what it is",
        "num_children": float(len(children)),
        "children": np.array([children], dtype=np.float64),
        "wordnet_height": 0.0,
        "num_train_images": float(n_train),
    }


def meta_mat(synsets, compressed=True):
    """Return meta.mat; like the official one it has the costs of mistakes as well."""
    return mat({"synsets": structs(synsets).T, "cost_matrix": np.eye(3, dtype=np.uint8)}, compressed)


def sbow_mat(images, compressed=True, dtype=np.int16):
    """Return a file of visual words from (id, words) for each image."""
    rows = []
    for image, words in images:
        positions = np.zeros((1, len(words)), dtype=np.float32)
        others = {"x": positions, "y": positions, "scale": positions.astype(np.int8), "norm": positions}
        rows.append({"ID": image, "sbow": {"word": np.array([words], dtype=dtype), **others}})
    return mat({"image_sbow": structs(rows)}, compressed)
