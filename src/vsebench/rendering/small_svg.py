"""A drawing of Matplotlib's as an address for the report: the same picture in about half as many letters."""

import re
from collections import Counter
from urllib.parse import quote
from xml.etree import ElementTree

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
REPEATED = 3  # times that a style is there before it gets a class
POINTS = ("d", "x", "y", "points")  # attributes with coordinates, which need two decimals of a point


def data_address(svg: str) -> str:
    """Return a drawing as an address, without what a browser does not need to show it.

    >>> data_address('<svg xmlns="http://www.w3.org/2000/svg"><g id="a"><path d="M 1.23456 2"/></g></svg>')
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Cpath d='M 1.23 2'/%3E%3C/svg%3E"
    """
    root = ElementTree.fromstring(svg)
    names = short_names(root)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("metadata"):
                parent.remove(child)
    for element in root.iter():
        shorten(element, names)
    share_styles(root)
    leave_out_groups(root)
    ElementTree.register_namespace("", SVG[1:-1])
    text = ElementTree.tostring(root, encoding="unicode")
    text = re.sub(r" (?=/>)|(?<=>) (?=<)", "", re.sub(r"[ \t\r\n]+", " ", text))
    text = re.sub(r'="([^"\']*)"', r"='\1'", text)  # a quotation mark of text is quoted below
    return "data:image/svg+xml," + quote(text, safe=" !$&'()*+,-./:;=?@[]_{}~")


def short_names(root: ElementTree.Element) -> dict[str, str]:
    """Return a short name for each `id` that something in the drawing asks for."""
    values = [value for element in root.iter() for value in element.attrib.values()]
    asked = dict.fromkeys(name for value in values for name in re.findall(r"#([^\s\"')]+)", value))
    known = [element.attrib["id"] for element in root.iter() if element.attrib.get("id") in asked]
    return {name: f"n{number}" for number, name in enumerate(known)}


def shorten(element: ElementTree.Element, names: dict[str, str]) -> None:
    """Shorten an element's attributes; `names` are the short ones of those ids that are asked for."""
    attributes = element.attrib
    name = names.get(attributes.pop("id", ""))
    if name:
        attributes["id"] = name
    if LINK in attributes:
        attributes["href"] = attributes.pop(LINK)
    for key, value in attributes.items():
        attributes[key] = re.sub(r"#([^\s\"')]+)", lambda found: f"#{names.get(found[1], found[1])}", value)
    for key in POINTS:
        if key in attributes:
            attributes[key] = re.sub(r"(\.\d\d)\d+", r"\1", attributes[key]).strip()
    if "style" in attributes:
        style = re.sub(r"([:;,]) |'", r"\1", attributes["style"])  # quotes around the names of fonts, too
        attributes["style"] = re.sub(r"(font-family:DejaVu Sans)(?!,)", r"\1,sans-serif", style)  # of formulas
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]


def share_styles(root: ElementTree.Element) -> None:
    """Give styles that are there several times a class in the drawing's own style sheet."""
    sheet = root.find(f".//{SVG}style")
    if sheet is None:
        return
    numbers = Counter(element.attrib["style"] for element in root.iter() if "style" in element.attrib)
    classes = {style: f"s{place}" for place, (style, number) in enumerate(numbers.most_common()) if number >= REPEATED}
    for element in root.iter():
        if element.attrib.get("style") in classes:
            element.attrib["class"] = classes[element.attrib.pop("style")]
    sheet.text = (sheet.text or "") + "".join(f".{name}{{{style}}}" for style, name in classes.items())


def leave_out_groups(parent: ElementTree.Element) -> None:
    """Put the contents of groups without attributes in their place."""
    children = []
    for child in parent:
        leave_out_groups(child)
        children += list(child) if child.tag == f"{SVG}g" and not child.attrib else [child]
    parent[:] = children
