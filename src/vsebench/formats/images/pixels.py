"""From the bytes of an image file to the numbers that a network takes.

1. Decode to RGB of 8 bits, turned as its EXIF says. Grey, palette and CMYK are converted; 16 bits of grey are scaled
   to 8; transparency is ignored; of several frames the first is taken. Pixels that are floating-point numbers are
   refused, since nothing says which of them is white.
2. Resize: the shorter side to `resize` pixels (bilinear) and the centre cut out, with the sizes that torchvision's
   Resize and CenterCrop give; or "squash", the whole image to the network's size (bicubic), which changes the aspect
   ratio. Pillow's filters average over all pixels behind one (antialias).
3. value -> (value / scale - mean) / deviation, in the order of channels that the transform names.
"""

import io
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from vsebench.config.dataset import Resize, TransformName

# Pillow would give other formats to programs outside, such as EPS to Ghostscript.
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
NARROWEST = 100  # times as long as it is wide; a longer image would take gigabytes once its shorter side is resized


class Scaling(NamedTuple):
    """What is done to the value of a channel, from 0 to 255: (value / scale - mean) / deviation."""

    channels: str
    scale: float
    mean: tuple[float, float, float]
    deviation: tuple[float, float, float]


SCALINGS: dict[TransformName, Scaling] = {
    "torchvision": Scaling("RGB", 255.0, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "caffe_vgg": Scaling("BGR", 1.0, (103.939, 116.779, 123.68), (1.0, 1.0, 1.0)),
    "inception": Scaling("RGB", 127.5, (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
}


class UnreadableError(Exception):
    """A file is no image that can be described; the message says why in a few words."""


@dataclass(frozen=True)
class Transform:
    """A named transform for a network's input of `height` x `width` pixels."""

    name: TransformName
    resize: Resize
    height: int
    width: int

    def record(self) -> dict[str, Any]:
        """Return all that determines the numbers, for the record of the features."""
        resampling = "bicubic" if self.resize == "squash" else "bilinear"
        return asdict(self) | {"filter": resampling} | SCALINGS[self.name]._asdict()

    def pixels(self, content: bytes) -> NDArray[np.float32]:
        """Return the numbers (3, height, width) of an image file; raises an `UnreadableError`."""
        try:
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:
                fitted = self._fit(to_rgb(ImageOps.exif_transpose(image)))
        except UnidentifiedImageError:
            raise UnreadableError("not an image of a known format") from None
        except Exception as error:  # damaged bytes make Pillow's readers raise a dozen kinds of errors
            raise UnreadableError(" ".join(str(error).split())[:200] or type(error).__name__) from None
        scaling = SCALINGS[self.name]
        values = np.asarray(fitted, dtype=np.float32).transpose(2, 0, 1)
        if scaling.channels == "BGR":
            values = values[::-1]
        mean, deviation = (np.array(one, dtype=np.float32)[:, None, None] for one in (scaling.mean, scaling.deviation))
        return np.ascontiguousarray((values / np.float32(scaling.scale) - mean) / deviation)

    def _fit(self, image: Image.Image) -> Image.Image:
        if self.resize == "squash":
            return image.resize((self.width, self.height), Image.Resampling.BICUBIC)
        shorter, longer = sorted(image.size)
        if longer > NARROWEST * shorter:
            raise UnreadableError(f"it is {image.width} x {image.height} pixels, too narrow to cut out its centre")
        width, height = (self.resize * side // shorter for side in image.size)
        resized = image.resize((width, height), Image.Resampling.BILINEAR)
        left, top = round((width - self.width) / 2), round((height - self.height) / 2)
        return resized.crop((left, top, left + self.width, top + self.height))


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert an image of any mode to RGB of 8 bits; raises an `UnreadableError` for floating-point pixels."""
    if image.mode == "F":
        raise UnreadableError("its pixels are floating-point numbers")
    if image.mode.startswith("I"):  # 16 bits of grey; Pillow's own conversion would make all but the darkest white
        grey = np.rint(np.clip(np.asarray(image), 0, 65535) / 257).astype(np.uint8)
        return Image.fromarray(grey).convert("RGB")
    if image.mode == "P":
        image = image.convert("RGBA")  # Pillow warns where a palette with transparency becomes RGB at once
    return image.convert("RGB")
