"""Convert the bytes of an image file to the input of a network.

docs/features.md states the steps. Floating-point pixels are refused because their range is unknown. Pillow's filters
average over all source pixels that a target pixel covers (antialiasing).
"""

import io
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from vsebench.config.dataset import Resize, TransformName
from vsebench.core.errors import one_line

# For some other formats, Pillow would run external programs, such as Ghostscript for EPS.
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
NARROWEST = 100  # largest allowed ratio of the sides; resizing a narrower image would take gigabytes


class Scaling(NamedTuple):
    """How channel values, 0 to 255, are scaled: (value / scale - mean) / deviation.

    `channels` is the order of the channels, "RGB" or "BGR". The filter that resizes an image to a given length of its
    shorter side is bicubic if `bicubic` is true, and bilinear if it is false.
    """

    channels: str
    scale: float
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]
    bicubic: bool = False


SCALINGS: dict[TransformName, Scaling] = {
    "torchvision": Scaling("RGB", 255.0, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "caffe_vgg": Scaling("BGR", 1.0, (103.939, 116.779, 123.68), (1.0, 1.0, 1.0)),
    "inception": Scaling("RGB", 127.5, (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    "clip": Scaling(
        "RGB", 255.0, (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711), bicubic=True
    ),
}


class UnreadableError(Exception):
    """Raised if an image file cannot be converted; the message states why in a few words."""


@dataclass(frozen=True)
class Transform:
    """The conversion of images to a network's input of `height` x `width` pixels.

    `name` is a key of `SCALINGS`. If `resize` is a number, an image is resized so that its shorter side has this
    number of pixels, and is then cropped to its centre. If `resize` is "squash", the whole image is resized to the
    input's height and width.
    """

    name: TransformName
    resize: Resize
    height: int
    width: int

    def record(self) -> dict[str, Any]:
        """Return all settings that determine the pixels, to be recorded with the features."""
        scaling = SCALINGS[self.name]
        numbers = {name: value for name, value in scaling._asdict().items() if name != "bicubic"}
        return asdict(self) | {"filter": "bicubic" if self.is_bicubic else "bilinear"} | numbers

    @property
    def is_bicubic(self) -> bool:
        """Whether the filter that resizes images is bicubic; if not, it is bilinear."""
        return self.resize == "squash" or SCALINGS[self.name].bicubic

    def pixels(self, content: bytes) -> NDArray[np.float32]:
        """Return the network's input, (3, height, width), for an image, given the content of the image's file.

        If the image cannot be converted, an `UnreadableError` is raised.
        """
        try:
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:
                fitted = self._fit(to_rgb(ImageOps.exif_transpose(image)))
        except UnidentifiedImageError:
            raise UnreadableError("it is not an image in a known format") from None
        except Exception as error:  # damaged bytes make Pillow's readers raise a dozen kinds of errors
            raise UnreadableError(one_line(error) or type(error).__name__) from None
        scaling = SCALINGS[self.name]
        values = np.asarray(fitted, dtype=np.float32).transpose(2, 0, 1)
        if scaling.channels == "BGR":
            values = values[::-1]
        mean, deviation = (np.array(v, dtype=np.float32)[:, None, None] for v in (scaling.mean, scaling.deviation))
        return np.ascontiguousarray((values / np.float32(scaling.scale) - mean) / deviation)

    def _fit(self, image: Image.Image) -> Image.Image:
        if self.resize == "squash":
            return image.resize((self.width, self.height), Image.Resampling.BICUBIC)
        shorter, longer = sorted(image.size)
        if longer > NARROWEST * shorter:
            raise UnreadableError(f"it is {image.width} x {image.height} pixels, too narrow to cut out its centre")
        width, height = (self.resize * side // shorter for side in image.size)
        resampling = Image.Resampling.BICUBIC if self.is_bicubic else Image.Resampling.BILINEAR
        resized = image.resize((width, height), resampling)
        left, top = round((width - self.width) / 2), round((height - self.height) / 2)
        return resized.crop((left, top, left + self.width, top + self.height))


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert an image of any mode to 8-bit RGB; raise an `UnreadableError` for floating-point pixels."""
    if image.mode == "F":
        raise UnreadableError("its pixels are floating-point numbers")
    if image.mode.startswith("I"):  # 16-bit grey; Pillow's own conversion would turn nearly all pixels white
        grey = np.rint(np.clip(np.asarray(image), 0, 65535) / 257).astype(np.uint8)
        return Image.fromarray(grey).convert("RGB")
    if image.mode == "P":
        image = image.convert("RGBA")  # Pillow warns if a palette with transparency is converted to RGB directly
    return image.convert("RGB")
