"""Transforms of images for networks, against what their definitions give."""

import io

import numpy as np
import pytest
from PIL import Image

from vsebench.formats.images.pixels import Transform, UnreadableError

RGB = np.random.default_rng(0).integers(0, 256, (4, 4, 3), dtype=np.uint8)


def png(values):
    stream = io.BytesIO()
    Image.fromarray(np.asarray(values, dtype=np.uint8)).save(stream, "PNG")
    return stream.getvalue()


@pytest.mark.parametrize("resize", [4, "squash"])
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        (
            "torchvision",
            lambda r, g, b: ((r / 255 - 0.485) / 0.229, (g / 255 - 0.456) / 0.224, (b / 255 - 0.406) / 0.225),
        ),
        ("caffe_vgg", lambda r, g, b: (b - 103.939, g - 116.779, r - 123.68)),
        ("inception", lambda r, g, b: (r / 127.5 - 1, g / 127.5 - 1, b / 127.5 - 1)),
        (
            "clip",
            lambda r, g, b: (
                (r / 255 - 0.48145466) / 0.26862954,
                (g / 255 - 0.4578275) / 0.26130258,
                (b / 255 - 0.40821073) / 0.27577711,
            ),
        ),
    ],
)
def test_an_image_of_the_right_size_is_only_scaled(name, formula, resize):
    found = Transform(name, resize, 4, 4).pixels(png(RGB))
    assert found.dtype == np.float32
    wanted = formula(*RGB.transpose(2, 0, 1).astype(np.float64))
    np.testing.assert_allclose(found, np.stack(wanted), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("width", "left"), [(6, 1), (7, 2), (9, 2), (12, 4)])  # half a pixel: to the even one
def test_the_centre_is_cut_out(width, left):
    values = np.random.default_rng(1).integers(0, 256, (4, width, 3), dtype=np.uint8)
    for turned in (False, True):
        image = values.transpose(1, 0, 2) if turned else values
        wanted = values[:, left : left + 4]
        found = Transform("caffe_vgg", 4, 4, 4).pixels(png(image)) + np.array([103.939, 116.779, 123.68])[:, None, None]
        np.testing.assert_allclose(found[::-1].transpose((2, 1, 0) if turned else (1, 2, 0)), wanted, atol=1e-4)


def triangle(n_in, n_out):
    """Return the matrix (n_out, n_in) of a bilinear filter that is as wide as the pixels that it averages."""
    scale = n_in / n_out
    centres, pixels = (np.arange(n_out) + 0.5) * scale, np.arange(n_in) + 0.5
    weights = np.maximum(0, 1 - np.abs(pixels - centres[:, None]) / scale)
    return weights / weights.sum(axis=1, keepdims=True)


def test_the_shorter_side_is_resized_with_antialias():
    values = np.random.default_rng(2).integers(0, 256, (15, 30, 3), dtype=np.uint8)
    whole = np.einsum("ih,jw,hwc->ijc", triangle(15, 5), triangle(30, 10), values.astype(float))
    found = Transform("inception", 5, 5, 4).pixels(png(values))
    np.testing.assert_allclose((found.transpose(1, 2, 0) + 1) * 127.5, whole[:, 3:7], atol=1.01)  # Pillow rounds twice


def cubic(n_in, n_out):
    """Return the matrix (n_out, n_in) of a bicubic filter (a = -0.5) that is wider the more an image is reduced."""
    scale = n_in / n_out
    x = np.abs(np.arange(n_in) + 0.5 - ((np.arange(n_out) + 0.5) * scale)[:, None]) / scale
    weights = np.where(x < 1, 1.5 * x**3 - 2.5 * x**2 + 1, np.where(x < 2, -0.5 * (x**3 - 5 * x**2 + 8 * x - 4), 0))
    return weights / weights.sum(axis=1, keepdims=True)


def test_the_shorter_side_is_resized_by_a_bicubic_filter_for_clip():
    values = np.random.default_rng(2).integers(60, 190, (15, 30, 3), dtype=np.uint8)  # no result is cut off
    whole = np.einsum("ih,jw,hwc->ijc", cubic(15, 5), cubic(30, 10), values.astype(float))
    transform = Transform("clip", 5, 5, 4)
    scaling = np.array([0.26862954, 0.26130258, 0.27577711]), np.array([0.48145466, 0.4578275, 0.40821073])
    found = (transform.pixels(png(values)).transpose(1, 2, 0) * scaling[0] + scaling[1]) * 255
    np.testing.assert_allclose(found, whole[:, 3:7], atol=1.6)  # Pillow rounds twice
    assert transform.record()["filter"] == "bicubic"
    assert Transform("torchvision", 5, 5, 4).record()["filter"] == "bilinear"


def test_a_squashed_image_is_there_to_its_edges():
    values = np.repeat(np.repeat(RGB, 10, axis=0), 30, axis=1)  # blocks of 10 x 30 equal pixels
    found = (Transform("inception", "squash", 40, 40).pixels(png(values)).transpose(1, 2, 0) + 1) * 127.5
    inner = found.reshape(4, 10, 4, 10, 3)[:, 3:7, :, 3:7]  # away from the blocks' edges, where the filter mixes
    np.testing.assert_allclose(inner, np.broadcast_to(RGB[:, None, :, None], inner.shape), atol=1)


@pytest.mark.parametrize("shape", [(1, 101), (101, 1)])
def test_a_line_of_pixels_is_refused_where_its_centre_is_wanted(shape):
    with pytest.raises(UnreadableError, match="too narrow to cut out its centre"):
        Transform("inception", 4, 4, 4).pixels(png(np.zeros(shape)))
    assert Transform("inception", "squash", 4, 4).pixels(png(np.zeros(shape))).shape == (3, 4, 4)


def test_an_image_of_more_pixels_than_pillow_thinks_honest_is_refused():
    stream = io.BytesIO()
    Image.new("1", (18_000, 10_000)).save(stream, "PNG")
    with pytest.raises(UnreadableError, match="exceeds limit of 178956970 pixels"):
        Transform("inception", "squash", 4, 4).pixels(stream.getvalue())
