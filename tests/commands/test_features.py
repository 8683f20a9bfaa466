"""The command `vsebench features`: from image files to rows of numbers, through networks that are written here."""

import io
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tests import onnx_files
from tests.stages.small import run
from tests.workflow.project import wait_until
from vsebench.commands import features
from vsebench.config.dataset import FeaturesFile
from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.formats.features_file import read_features_file

REASON = "optional, `make setup-images` installs it"
WEIGHTS = np.random.default_rng(3).normal(size=(48, 5))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the network net.onnx and nine images of noise, 4 x 4, in photos/ and photos/more/."""
    pytest.importorskip("onnxruntime", reason=REASON)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(onnx_files.network(weights=WEIGHTS))
    rng = np.random.default_rng(0)
    for name in ["b.png", "a.png", "more/c.png", "more/a.bmp", *(f"{letter}.png" for letter in "uvxyz")]:
        save(rng.integers(0, 256, (4, 4, 3)), tmp_path / "photos" / name)
    return tmp_path


def save(values, path, **options):
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(np.asarray(values, dtype=np.uint8)).save(path, **options)


def command(**changes):
    """Return the stage's command line for the folder of the fixture."""
    options = {"model": "net.onnx", "output": "pixels", "images": "photos", "transform": "inception"}
    options |= {"resize": "squash", "threads": 2, "out": "out"} | changes
    return ["features", *(word for key, value in options.items() for word in (f"--{key}", value))]


def made(out="out"):
    """Return the features of each image, as the project reads them."""
    ids = Path(out, "ids.txt").read_text(encoding="utf-8").splitlines()
    source = FeaturesFile(file=f"{out}/features.npy", ids=f"{out}/ids.txt")
    found, dropped = read_features_file(Path("nowhere"), source, ids)
    assert found.values.dtype == np.float16
    assert not dropped
    assert found.known.all()
    return dict(zip(ids, np.asarray(found.values, dtype=np.float32), strict=True))


def pixels(row):
    """Return what the transform `inception` was given, from the output `pixels`: (4, 4, 3), from 0 to 255."""
    return np.rint((row.reshape(3, 4, 4).transpose(1, 2, 0) + 1) * 127.5)


def error_of(capsys):
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("vsebench features: ")]
    assert len(lines) == 1
    return lines[0]


def test_each_image_has_the_row_of_its_own_pixels(folder):
    (folder / "photos" / "notes.txt").write_text("no image")
    assert run(*command()) == 0
    found = made()
    assert list(found) == ["a.png", "b.png", "more/a.bmp", "more/c.png", *(f"{letter}.png" for letter in "uvxyz")]
    for name, row in found.items():
        np.testing.assert_array_equal(pixels(row), np.asarray(Image.open(folder / "photos" / name)))
    assert (folder / "out" / "failed.txt").read_bytes() == b""
    record = read_json(folder / "out" / "record.json")
    assert (record["images"], record["failed"], record["dimensions"]) == (9, 0, 48)
    assert record["transform"]["filter"] == "bicubic"
    assert set(record["versions"]) == {"onnxruntime", "pillow", "numpy"}


@pytest.mark.parametrize("shape", [("n", 3, 4, 4), ("n", "c", 4, 4), (1, 3, 4, 4), (4, 3, 4, 4)])
def test_sizes_of_batches_and_shards_do_not_matter(shape, folder, monkeypatch):
    (folder / "net.onnx").write_bytes(onnx_files.network(shape, WEIGHTS))
    assert run(*command(output="product", out="whole")) == 0
    monkeypatch.setattr(features, "BATCH", 1)
    monkeypatch.setattr(features, "SHARD", 2)
    assert run(*command(output="product")) == 0
    whole, single = made("whole"), made()
    assert list(whole) == list(single)
    np.testing.assert_allclose(list(whole.values()), list(single.values()), rtol=1e-3, atol=1e-3)
    row = np.asarray(Image.open("photos/a.png")).transpose(2, 0, 1).ravel() / 127.5 - 1
    np.testing.assert_allclose(whole["a.png"], row @ WEIGHTS, rtol=2e-3, atol=1e-2)


def test_an_archive_and_a_table_give_the_rows_of_the_folder(folder):
    assert run(*command()) == 0
    wanted = made()
    with tarfile.open("photos.tar.gz", "w:gz") as archive:
        archive.add("photos", arcname=".")
    assert run(*command(images="photos.tar.gz", out="archive")) == 0
    found = made("archive")
    assert sorted(found) == sorted(wanted)
    (folder / "table.csv").write_text("file,image\nphotos/more/c.png,7\nphotos/a.png,b\n")
    assert run(*command(images="table.csv", out="table")) == 0
    table = made("table")
    assert list(table) == ["7", "b"]
    for name, other in [*((name, found[name]) for name in wanted), ("more/c.png", table["7"]), ("a.png", table["b"])]:
        np.testing.assert_array_equal(other, wanted[name])


def test_suffixes_can_be_dropped_from_ids(folder):
    assert run(*command(suffixes="drop", images="photos/more")) == 0
    assert list(made()) == ["a", "c"]


def test_an_output_behind_an_average_over_all_pixels(folder):
    assert run(*command(output="mean")) == 0
    for name, row in made().items():
        wanted = np.asarray(Image.open(folder / "photos" / name)).mean(axis=(0, 1)) / 127.5 - 1
        np.testing.assert_allclose(row, wanted, atol=1e-3)


def odd_kinds(task):
    """Save images of odd kinds; return for each the RGB pixels that it stands for."""
    rng = np.random.default_rng(5)
    rgb, grey = rng.integers(0, 256, (4, 4, 3)), np.arange(16).reshape(4, 4) * 17
    as_rgb = np.repeat(grey[:, :, None], 3, axis=2)
    save(grey, task / "grey.png")
    Image.fromarray((grey * 257).astype(np.uint16)).save(task / "grey16.png")
    Image.fromarray((grey * 257).astype(np.uint16)).save(task / "grey16.tif")
    (task / "grey16.pgm").write_bytes(b"P5 4 4 65535\n" + (grey * 257).astype(">u2").tobytes())
    Image.fromarray(grey > 100).save(task / "black-and-white.png")
    palette = Image.fromarray(rgb.astype(np.uint8)).quantize(16)
    palette.save(task / "palette.png", transparency=bytes(range(16)))
    Image.fromarray(np.dstack([rgb, grey]).astype(np.uint8)).save(task / "transparent.png")
    ink = np.dstack([255 - rgb, np.zeros((4, 4))]).astype(np.uint8)  # without black, each ink takes away one colour
    Image.frombytes("CMYK", (4, 4), ink.tobytes()).save(task / "cmyk.tif")
    Image.new("CMYK", (4, 4), (0, 255, 255, 0)).save(task / "cmyk.jpg")
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was turned: to be shown a quarter to the right
    save(rgb, task / "turned.png", exif=turned)
    frames = [Image.fromarray(np.full((4, 4, 3), value, dtype=np.uint8)) for value in (255, 0)]
    frames[0].save(task / "frames.gif", save_all=True, append_images=frames[1:])
    return {
        **dict.fromkeys(["grey.png", "grey16.png", "grey16.tif", "grey16.pgm"], as_rgb),
        "black-and-white.png": 255 * (as_rgb > 100),
        "palette.png": np.array(palette.getpalette()).reshape(-1, 3)[np.asarray(palette)],
        "transparent.png": rgb,
        "cmyk.tif": rgb,
        "cmyk.jpg": np.broadcast_to([255, 0, 0], (4, 4, 3)),
        "turned.png": np.rot90(rgb, -1),
        "frames.gif": np.full((4, 4, 3), 255),
    }


def test_images_of_odd_kinds_are_what_they_show(folder):
    wanted = odd_kinds(folder / "photos")
    assert run(*command(suffixes="keep")) == 0
    found = made()
    for name, values in wanted.items():
        assert np.abs(pixels(found[name]) - values).max() <= 1, name


def test_an_unreadable_file_is_a_line_and_no_row(folder, capsys):
    noise = io.BytesIO()
    Image.fromarray(np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(noise, "JPEG")
    (folder / "photos" / "half.jpg").write_bytes(noise.getvalue()[: len(noise.getvalue()) // 2])
    (folder / "photos" / "empty.png").write_bytes(b"")
    (folder / "photos" / "page.jpg").write_text("<html>404</html>")
    (folder / "photos" / "script.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n")
    (folder / "photos" / "gone.png").symlink_to("nowhere.png")
    Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(folder / "photos" / "float.tif")
    assert run(*command()) == 0
    lines = (folder / "out" / "failed.txt").read_text().splitlines()
    reasons = dict(line.split("\t") for line in lines)
    assert list(reasons) == ["empty.png", "float.tif", "gone.png", "half.jpg", "page.jpg", "script.png"]
    assert reasons["gone.png"] == "No such file or directory"
    assert reasons["float.tif"] == "its pixels are floating-point numbers"
    assert "truncated" in reasons["half.jpg"]
    assert {reasons[name] for name in ("empty.png", "page.jpg", "script.png")} == {
        "it is not an image in a known format"
    }
    assert len(made()) == 9
    assert read_json(folder / "out" / "record.json")["failed"] == 6
    assert "6 of 15 images cannot be read; see out/failed.txt" in capsys.readouterr().err


def stopped(folder, monkeypatch):
    """Kill a run in the third of its shards of two images, at a file from which nothing ever comes."""
    monkeypatch.setattr(features, "SHARD", 2)
    pipe = folder / "photos" / "u.png"
    content = pipe.read_bytes()
    pipe.unlink()
    os.mkfifo(pipe)
    script = "import sys; from vsebench import cli; from vsebench.commands import features; features.SHARD = 2; "
    command_line = [sys.executable, "-c", script + "sys.exit(cli.main(sys.argv[1:]))", *map(str, command())]
    environment = {name: value for name, value in os.environ.items() if name != "VSEBENCH_PARENT"}
    process = subprocess.Popen(command_line, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.poll() is not None or len(whole_shards(folder)) == 2)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    pipe.unlink()
    pipe.write_bytes(content)


def whole_shards(folder):
    """Return what tells shards apart from others of the same name."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "out" / "shards").glob("[0-9]*.npz")}


def test_a_run_that_was_killed_goes_on_where_it_was(folder, monkeypatch):
    stopped(folder, monkeypatch)
    before = whole_shards(folder)
    assert sorted(before) == ["00000.npz", "00001.npz"]
    assert not (folder / "out" / "features.npy").exists()
    assert run(*command()) == 0
    after = whole_shards(folder)
    assert len(after) == 5
    assert before.items() <= after.items()
    assert run(*command(out="anew")) == 0
    for name in ("features.npy", "ids.txt", "failed.txt", "record.json"):
        assert (folder / "out" / name).read_bytes() == (folder / "anew" / name).read_bytes()


CHANGES = {
    "the network": (5, lambda: Path("net.onnx").write_bytes(onnx_files.network(weights=-WEIGHTS)), {}),
    "its output": (5, lambda: None, {"output": "mean"}),
    "the transform": (5, lambda: None, {"transform": "caffe_vgg"}),
    "nothing": (0, lambda: None, {"threads": 1}),
    "the last picture": (1, lambda: save(np.zeros((4, 4, 3)), Path("photos/z.png")), {}),
    "one picture more, behind the others": (1, lambda: save(np.zeros((4, 4, 3)), Path("photos/zz.png")), {}),
    "one picture more, before the others": (5, lambda: save(np.zeros((4, 4, 3)), Path("photos/0.png")), {}),
    "a damaged shard": (1, lambda: Path("out/shards/00003.npz").write_bytes(b"PK"), {}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_depends_on_a_change_is_made_again_and_nothing_else(change, folder, monkeypatch):
    n_made, do, options = CHANGES[change]
    monkeypatch.setattr(features, "SHARD", 2)
    assert run(*command(output="product")) == 0
    before = whole_shards(folder)
    do()
    changed = {"output": "product"} | options
    assert run(*command(**changed)) == 0
    after = whole_shards(folder)
    assert len(after) == 5
    assert sum(after[name] != before[name] for name in after) == n_made
    assert run(*command(**changed, out="anew")) == 0
    assert (folder / "out" / "features.npy").read_bytes() == (folder / "anew" / "features.npy").read_bytes()


def test_shards_of_images_that_are_gone_are_deleted(folder, monkeypatch):
    monkeypatch.setattr(features, "SHARD", 2)
    assert run(*command()) == 0
    assert run(*command(images="photos/more")) == 0
    assert list(whole_shards(folder)) == ["00000.npz"]
    assert list(made()) == ["a.bmp", "c.png"]


MISTAKES = {
    "no network": ({"model": "no.onnx"}, "no.onnx: No such file or directory"),
    "no ONNX file": ({"model": "photos/a.png"}, "photos/a.png: onnxruntime cannot load it ("),
    "weights elsewhere": ({"model": "elsewhere.onnx"}, "elsewhere.onnx: its weights are in another file; save"),
    "channels last": (
        {"model": "last.onnx"},
        "last.onnx: its input must be (n, 3, height, width) float32, but is",
    ),
    "two inputs": ({"model": "two.onnx"}, "two.onnx: its input must be (n, 3, height, width) float32, but is im"),
    "no such output": ({"output": "fc7"}, "net.onnx: no output 'fc7'; the outputs are 'pixels', 'mean', 'maps'"),
    "no row per image": ({"output": "maps"}, "net.onnx: the output 'maps' is (2, 3, 4, 4) of float32 for 2 images"),
    "too big": (
        {"output": "huge", "transform": "caffe_vgg"},
        ", which is not finite or too large for float16 (at most 65504",
    ),
    "no images": ({"images": "empty"}, "empty: contains no image file; file names must end in .bmp, "),
    "nowhere": ({"images": "nowhere"}, "nowhere: no such file or folder"),
    "no archive": ({"images": "net.onnx"}, "net.onnx: not a readable archive"),
    "no such column": ({"images": "bad.csv"}, "bad.csv: no column 'file'; the columns are 'image', 'path'"),
    "a table's suffixes": (
        {"images": "bad.csv", "suffixes": "drop"},
        "bad.csv: `suffixes: drop` has no effect on a table of ids",
    ),
    "the same id": ({"images": "same", "suffixes": "drop"}, "same: the image 'a' occurs 2 times; names must be unique"),
    "an odd name": ({"images": "odd"}, "odd: 'a\\nb.png': an id must be Unicode text without line breaks"),
    "an escape sequence": (
        {"images": "coloured"},
        r"coloured: 'a\x1b[31m.png': an id must be Unicode text without line",
    ),
    "nothing readable": (
        {"images": "pages"},
        "no image can be read (number of images: 1); first error: a.png: it is not an",
    ),
    "too small": ({"resize": 3}, "--resize: 3 pixels, but net.onnx takes 4 x 4; use 4 or more, or squash"),
    "no threads": ({"threads": 0}, "--threads: is 0; use 1 or more"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_no_features(mistake, folder, capsys):
    (folder / "elsewhere.onnx").write_bytes(onnx_files.ELSEWHERE)
    (folder / "last.onnx").write_bytes(onnx_files.network(("n", 4, 4, 3)))
    (folder / "two.onnx").write_bytes(onnx_files.network(inputs=2))
    (folder / "bad.csv").write_text("image,path\n1,photos/a.png\n")
    for name in (
        "empty/notes.txt",
        "pages/a.png",
        "same/a.png",
        "same/a.jpg",
        "odd/a\nb.png",
        "coloured/a\x1b[31m.png",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("no image")
    changes, message = MISTAKES[mistake]
    assert run(*command(**changes)) == 1
    assert message in error_of(capsys)
    assert not (folder / "out" / "features.npy").exists()


@pytest.mark.parametrize(
    ("value", "fits"), [(65504, True), (-65504, True), (65536, False), (np.inf, False), (np.nan, False)]
)
def test_every_finite_float16_is_a_feature(value, fits):
    network = SimpleNamespace(path="net.onnx", output="maps")
    values = np.array([[0, value]], dtype=np.float32)
    if fits:
        assert features.as_half(values, ["a.png"], network)[0, 1] == value
        return
    with pytest.raises(
        UserError, match=f"net.onnx: a.png: the output 'maps' contains {float(value)}, which is not finite or"
    ):
        features.as_half(values, ["a.png"], network)


def test_without_onnxruntime_the_make_target_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.chdir(tmp_path)
    assert run(*command()) == 1
    assert error_of(capsys).endswith("it needs the package onnxruntime; `make setup-images` installs it")
