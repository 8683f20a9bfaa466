"""Real photographs through the real network; skipped without onnxruntime, or if VSEBENCH_MIRROR has no such files."""

import tarfile

import numpy as np
import pytest

from tests.stages.small import run
from vsebench.commands import features

PHOTOS, MODEL = "corel5k_images.tar", "mobilenetedgetpu.onnx"
KNOWN = "corel5k_mobilenetedgetpu"  # features of all images of Corel 5k, made elsewhere
EVERY = 7  # of the 334 photographs, to save time


@pytest.fixture(scope="module")
def made(mirror, tmp_path_factory):
    """Describe every seventh photograph, in two sizes of batches; return ids and both features as float32."""
    pytest.importorskip("onnxruntime", reason="optional, `make setup-images` installs it")
    for name in (PHOTOS, MODEL, f"{KNOWN}.npy", f"{KNOWN}.ids.txt"):
        if not (mirror / name).is_file():
            pytest.skip(f"VSEBENCH_MIRROR has no {name}")
    folder = tmp_path_factory.mktemp("photos")
    with tarfile.open(mirror / PHOTOS) as archive:
        some = archive.getmembers()[::EVERY]
        with tarfile.open(folder / "some.tar", "w") as chosen:
            for member in some:
                chosen.addfile(member, archive.extractfile(member))
    files = ["--model", mirror / MODEL, "--images", folder / "some.tar", "--suffixes", "drop"]
    settings = ["--output", "features", "--transform", "inception", "--resize", "squash", "--threads", 1]
    found = []
    for batch in (32, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(features, "BATCH", batch)
            assert run("features", *files, *settings, "--out", folder / str(batch)) == 0
        found.append(np.load(folder / str(batch) / "features.npy").astype(np.float32))
    return (folder / "32" / "ids.txt").read_text().splitlines(), *found


def test_real_photographs_have_the_features_that_were_made_of_them_elsewhere(made, mirror):
    ids, found, _ = made
    known = (mirror / f"{KNOWN}.ids.txt").read_text().splitlines()
    assert len(ids) == 48
    wanted = np.load(mirror / f"{KNOWN}.npy")[[known.index(image) for image in ids]].astype(np.float32)
    cosine = (found * wanted).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wanted, axis=1)
    assert cosine.min() >= 0.999


def test_the_size_of_a_batch_does_not_matter_to_real_features(made):
    _, together, alone = made
    assert np.abs(together - alone).max() <= 1e-3
