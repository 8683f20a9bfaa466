"""The report's shortened drawings show the same marks, lines and words as Matplotlib's files."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
from matplotlib.figure import Figure

from vsebench.rendering.small_svg import data_address
from vsebench.rendering.style import save, style

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
SHOWN = ("path", "use", "text", "tspan", "rect", "image")
Mark = tuple[str, str, tuple[str, ...], str, list[float], str]


def marks(svg: str) -> list[Mark]:
    """Return what is drawn, in order: kind, style, transforms around it, what is asked for, numbers and words."""
    root = ElementTree.fromstring(svg)
    known = {element.attrib["id"]: element for element in root.iter() if "id" in element.attrib}
    sheet = "".join(element.text or "" for element in root.iter(f"{SVG}style"))
    classes = dict(re.findall(r"\.(\w+)\s*\{(.*?)\}", sheet))

    def walk(element: ElementTree.Element, around: tuple[str, ...]) -> Iterator[Mark]:
        own = element.attrib
        turned = own.get("transform", "")
        if turned and not turned.startswith("rotate(-0 "):
            around = (*around, turned)
        tag = element.tag.removeprefix(SVG)
        if tag in SHOWN:
            look = re.sub(r"[\s']", "", own.get("style", classes.get(own.get("class", ""), "")))
            asked = [own.get("href", own.get(LINK, "")), *re.findall(r"url\((#\w+)\)", own.get("clip-path", "") + look)]
            look = re.sub(r"#\w+(?=\))", "", look)
            parts = [known[name[1:]] for name in asked if name.startswith("#")]
            data = " ".join(f"{part.get('d', '')} {' '.join(child.get('d', '') for child in part)}" for part in parts)
            data += " ".join(own.get(key, "") for key in ("d", "x", "y"))
            numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d*)?", data)]
            look = look.replace("font-family:DejaVuSans,sans-serif", "font-family:DejaVuSans")
            yield tag, look, around, re.sub(r"[^A-Za-z]", "", data), numbers, (element.text or "").strip()
        for child in element:
            yield from walk(child, around)

    return list(walk(root, ()))


def drawn(folder: Path) -> str:
    """Return a figure with lines, markers, clipped paths, a band, an image, hatches, formulas and quotation marks."""
    rng = np.random.default_rng(1)
    with style():
        figure = Figure()
        left, right = figure.subplots(1, 2)
        left.plot(rng.random(20), rng.random(20), "o--", label='say "hi" to \N{GREEK SMALL LETTER ALPHA}')
        left.scatter(rng.random(30), rng.random(30), c=rng.random(30))
        left.fill_between([0, 1], [0, 0.2], [0.5, 0.9], alpha=0.3)
        left.set_xlabel(r"$\beta_0$ and two  spaces")
        left.legend()
        right.bar([1, 2, 3], [3, 1, 2], hatch="//")
        right.imshow(rng.random((3, 3)), extent=(0, 4, 0, 4))
        right.text(1, 1, "turned & <marked>", rotation=30)
        save(figure, folder / "figure")
    return (folder / "figure.svg").read_text(encoding="utf-8")


def test_the_same_is_drawn(tmp_path: Path) -> None:
    svg = drawn(tmp_path)
    small = unquote(data_address(svg).partition(",")[2])
    before, after = marks(svg), marks(small)
    assert len(before) > 50
    assert [mark[:4] for mark in after] == [mark[:4] for mark in before]
    assert [mark[5] for mark in after] == [re.sub(r"\s+", " ", mark[5]) for mark in before]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new[4], old[4], atol=0.0101)


def test_every_name_that_is_asked_for_is_there(tmp_path: Path) -> None:
    small = unquote(data_address(drawn(tmp_path)).partition(",")[2])
    asked = set(re.findall(r"href='#(\w+)'", small)) | set(re.findall(r"url\(#(\w+)\)", small))
    assert asked
    assert asked <= set(re.findall(r" id='(\w+)'", small))
