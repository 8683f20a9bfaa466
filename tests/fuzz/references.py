"""A second, simple reader of each format, without code of the package; it returns None for files that are not valid.

These readers are slow and have no messages. They reveal a fast reader that reads something else.
"""

import json
import re
import struct
import unicodedata
from collections import Counter
from typing import Any, NamedTuple
from xml.dom import minidom
from xml.parsers.expat import ExpatError

Files = dict[str, bytes]


class Reading(NamedTuple):
    """The content of a data set in plain Python."""

    images: list[str]
    labels: list[str]
    counts: dict[tuple[str, str], int]  # (image, label) -> count
    parts: list[str] | None = None


def text_lines(data: bytes) -> list[str] | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    while lines and lines[-1] == "":
        del lines[-1]
    return lines


def whole_lines(data: bytes) -> list[str] | None:
    """Return the lines of a file that has to end with a line break."""
    return text_lines(data) if data[-1:] in (b"\n", b"\r", b"") else None


def is_name(text: str) -> bool:
    separators = ("Cc", "Zl", "Zp")
    return text.strip() != "" and not any(unicodedata.category(letter) in separators for letter in text)


def distinct(names: list[str]) -> bool:
    return len(names) == len(set(names))


def lear(files: Files) -> Reading | None:
    labels = whole_lines(files.get("t_dictionary.txt", b"\xff"))
    images: list[str] = []
    parts: list[str] = []
    counts = {}
    if labels is None or not distinct(labels) or not all(map(is_name, labels)):
        return None
    for part in ("train", "test"):
        names = whole_lines(files.get(f"t_{part}_list.txt", b"\xff"))
        data = files.get(f"t_{part}_annot.hvecs")
        if names is None or data is None or len(data) != len(names) * (len(labels) + 1) * 2:
            return None
        for number, name in enumerate(names):
            row = struct.unpack_from(f"<{len(labels) + 1}h", data, number * (len(labels) + 1) * 2)
            if row[0] != len(labels) or any(value not in (0, 1) for value in row[1:]):
                return None
            counts.update({(name, label): 1 for label, value in zip(labels, row[1:], strict=True) if value})
        images += names
        parts += [part] * len(names)
    return Reading(images, labels, counts, parts) if distinct(images) and all(map(is_name, images)) else None


def is_number(text: str) -> bool:
    return 1 <= len(text) <= 18 and all(digit in "0123456789" for digit in text)


def saiapr(files: Files) -> Reading | None:
    words = whole_lines(files.get("wlist.txt", b"\xff"))
    if words is None:
        return None
    word_of: dict[int, str] = {}
    for line in words:
        code, _, word = line.partition("\t")
        if not is_number(code) or int(code) in word_of:
            return None
        word_of[int(code)] = word.strip() or f"label {code}"
        if not is_name(word_of[int(code)]):
            return None
    folders = sorted({name.split("/")[0] for name in files if "/" in name})
    if not distinct(list(word_of.values())) or not folders:
        return None
    regions: dict[tuple[int, int], str] = {}
    for folder in folders:
        has_labels = f"{folder}/labels.txt" in files
        lines = whole_lines(files[f"{folder}/labels.txt" if has_labels else f"{folder}/features.txt"])
        for line in lines if lines is not None else ["?"]:
            fields = line.split()
            if len(fields) < 3 or has_labels != (len(fields) == 3):
                return None
            if not (is_number(fields[0]) and is_number(fields[1]) and is_number(fields[-1])):
                return None
            region = int(fields[0]), int(fields[1])
            if int(fields[-1]) not in word_of or region in regions:
                return None
            regions[region] = word_of[int(fields[-1])]
    images = [str(number) for number in sorted({image for image, _ in regions})]
    return Reading(images, list(word_of.values()), dict(Counter((str(i), word) for (i, _), word in regions.items())))


def concept_columns(files: Files) -> tuple[list[str], dict[str, list[list[int]]]] | None:
    """Return the concepts, and for each part a column of 0 and 1 for each concept."""
    concepts = whole_lines(files.get("Concepts81.txt", b"\xff"))
    if not concepts or len(concepts) != 2 or not distinct(concepts) or not all(map(is_name, concepts)):
        return None
    columns: dict[str, list[list[int]]] = {"Train": [], "Test": []}
    for part, of_part in columns.items():
        for concept in concepts:
            data = files.get(f"Labels_{concept}_{part}.txt")
            if data is None:
                return None
            values = [line.strip(b" \t\r") for line in data.split(b"\n")]
            if (concept, part) == ("lake", "Train") and b"-1130179" in values:
                values[values.index(b"-1130179")] = b"0"
            while values and not values[-1]:
                del values[-1]
            if not values or any(value not in (b"0", b"1") for value in values):
                return None
            of_part.append([int(value) for value in values])
        if len({len(column) for column in of_part}) > 1:
            return None
    return concepts, columns


def line_names(sizes: dict[str, int]) -> tuple[list[str], list[str]]:
    images = [f"{part}-{line:06d}" for part in ("Train", "Test") for line in range(1, sizes[part] + 1)]
    return images, [image.split("-")[0].lower() for image in images]


def nuswide_concepts(files: Files) -> Reading | None:
    read = concept_columns(files)
    if read is None:
        return None
    concepts, columns = read
    images, parts = line_names({part: len(of_part[0]) for part, of_part in columns.items()})
    counts = {}
    for number, concept in enumerate(concepts):
        values = columns["Train"][number] + columns["Test"][number]
        counts.update({(image, concept): 1 for image, value in zip(images, values, strict=True) if value})
    return Reading(images, concepts, counts, parts)


def tag_list(tags: list[str] | None) -> list[str] | None:
    return tags if tags and all(map(is_name, tags)) and distinct(tags) else None


def nuswide_final(files: Files) -> Reading | None:
    tags = tag_list(text_lines(files.get("Final_Tag_List.txt", b"")))
    data = files.get("All_Tags.txt")
    if tags is None or data is None:
        return None
    data = data[3:] if data[:3] == b"\xef\xbb\xbf" else data
    lines = [line.split() for line in data.split(b"\n")]
    while lines and not lines[-1]:
        del lines[-1]
    images: list[str] = []
    counts = {}
    seen: Counter[bytes] = Counter()
    for words in lines or [[]]:
        if not words or any(byte not in b"0123456789" for byte in words[0]):
            return None
        seen[words[0]] += 1
        photo = words[0].decode()
        images.append(photo if seen[words[0]] == 1 else f"{photo}-{seen[words[0]]}")
        counts.update({(images[-1], tag): 1 for tag in tags if tag.encode() in words[1:]})
    return Reading(images, tags, counts)


def nuswide_1006(files: Files) -> Reading | None:
    tags = tag_list(text_lines(files.get("TagList1k.txt", b"")))
    read = concept_columns(files)
    if tags is None or read is None:
        return None
    concepts, columns = read
    rows = []
    for part in ("Train", "Test"):
        data = files.get(f"{part}_Tags1k.dat")
        if data is None:
            return None
        lines = [line.split() for line in data.split(b"\n")]
        while lines and not lines[-1]:
            del lines[-1]
        if len(lines) != len(columns[part][0]):
            return None
        if any(len(line) != len(tags) or any(value not in (b"0", b"1") for value in line) for line in lines):
            return None
        rows += lines
    images, parts = line_names({part: len(of_part[0]) for part, of_part in columns.items()})
    counts = {}
    for number, (image, row) in enumerate(zip(images, rows, strict=True)):
        counts.update({(image, tag): 1 for tag, value in zip(tags, row, strict=True) if value == b"1"})
        for tag in concepts:
            counts.pop((image, tag), None)
        for column, concept in enumerate(concepts):
            if (columns["Train"][column] + columns["Test"][column])[number]:
                counts[image, concept] = 1
    return Reading(images, [tag for tag in tags if tag not in concepts] + concepts, counts, parts)


def table_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return re.sub(r"\r*(\n|\Z)", r"\1", text)


def csv_rows(text: str) -> list[list[str]] | None:
    """Cut a text into cells: quoted cells may contain commas, line breaks and quotes; an empty line has no cell."""
    rows: list[list[str]] = []
    text, position, row = text + ("" if text.endswith("\n") else "\n"), 0, []
    while position < len(text):
        quoted = re.compile(r'"((?:[^"]|"")*)"(?=[,\n])').match(text, position)
        plain = re.compile(r'(?!")[^,\n\r]*(?=[,\n])').match(text, position)
        found = quoted or plain
        if found is None:
            return None
        row.append(quoted[1].replace('""', '"') if quoted else found[0])
        position = found.end() + 1
        if text[position - 1] == "\n":
            rows.append(row if quoted or row != [""] else [])
            row = []
    return rows


def add_up(rows: list[tuple[Any, Any, int]]) -> Reading | None:
    """Return a data set of rows (image, label, count); the label is None for an image without labels."""
    counts: Counter[tuple[str, str]] = Counter()
    images = set()
    for image, label, count in rows:
        if not isinstance(image, str) or not is_name(image.strip()):
            return None
        images.add(image.strip())
        if label is not None:
            if not isinstance(label, str) or not is_name(label.strip()):
                return None
            counts[image.strip(), label.strip()] += count
    if not counts or max(counts.values()) >= 2**31:
        return None
    return Reading(sorted(images), sorted({label for _, label in counts}), dict(counts))


def is_count(text: Any) -> bool:
    return (
        isinstance(text, str)
        and re.fullmatch("[0-9]{1,10}", text.strip()) is not None
        and 0 < int(text.strip()) < 2**31
    )


def table_csv(files: Files, wide: bool = False) -> Reading | None:
    text = table_text(files["t.csv"])
    if text is None:
        return None
    rows = csv_rows(text)
    if rows is None:
        return None
    header = [name.strip() for name in rows[0]] if rows else []
    if header.count("image") != 1 or header.count("label") != 1 or (not wide and header.count("count") > 1):
        return None
    found: list[tuple[Any, Any, int]] = []
    for cells in rows[1:]:
        if not cells:
            continue
        if len(cells) != len(header):
            return None
        cell = dict(zip(header, cells, strict=True))
        if wide:
            labels = cell["label"].split()
            found += [(cell["image"], label, 1) for label in labels] or [(cell["image"], None, 1)]
        else:
            count = cell.get("count", "1")
            if not is_count(count):
                return None
            found.append((cell["image"], cell["label"], int(count.strip())))
    return add_up(found)


def text_columns(files: Files) -> dict[str, list[str]]:
    """Return each file as a column of text, a cell per line; all columns have as many rows as the shortest."""
    cells = {name: data.decode(errors="replace").split("\n") for name, data in files.items()}
    n_rows = min(map(len, cells.values()))
    return {name: column[:n_rows] for name, column in cells.items()}


def table_columns(files: Files) -> Reading | None:
    columns = text_columns(files)
    if not {"image", "label"} <= set(columns):
        return None
    counts = columns.get("count", ["1"] * len(columns["image"]))
    if not all(map(is_count, counts)):
        return None
    return add_up([*zip(columns["image"], columns["label"], (int(count.strip()) for count in counts), strict=True)])


def parents_csv(files: Files, labels: list[str]) -> list[list[str]] | None:
    """Return the parents of each label in a table of labels and parents."""
    text = table_text(files["p.csv"])
    rows = None if text is None else csv_rows(text)
    if rows is None:
        return None
    header = [name.strip() for name in rows[0]] if rows else []
    if header.count("label") != 1 or header.count("parent") != 1 or header.count("count") > 1:
        return None
    found: set[tuple[str, str]] = set()
    for cells in filter(None, rows[1:]):
        if len(cells) != len(header):
            return None
        label, parent = (cells[header.index(name)].strip() for name in ("label", "parent"))
        if not is_name(label) or not is_name(parent) or label == parent:
            return None
        found.add((label, parent))
    return [sorted(parent for child, parent in found if child == label) for label in labels]


def parents_wordnet(files: Files, labels: list[str]) -> list[list[str]] | None:
    """Return the hypernyms of the first sense of each label, which is a noun in the singular or the plural."""
    senses = noun_rows(files, "wordnet_noun_senses.tsv.gz", "lemma\tsynsets")
    hypernyms = noun_rows(files, "wordnet_noun_hypernyms.tsv.gz", "synset\tlemmas\thypernyms\tinstance_hypernyms")
    irregular = noun_rows(files, "wordnet_noun_exceptions.txt.gz", None)
    if senses is None or hypernyms is None or irregular is None:
        return None
    synset_of = [row.split("\t", 1) for row in senses]
    parents_of = [row.split("\t") for row in hypernyms]
    are_valid = all(len(row) == 2 and row[0] and are_synsets(row[1]) for row in synset_of)
    are_valid &= all(len(row) == 4 and are_synsets(row[0]) and "|" not in row[0] for row in parents_of)
    are_valid &= all(cell == "" or are_synsets(cell) for row in parents_of for cell in row[2:])
    are_valid &= all(len(row.split()) > 1 for row in irregular)
    if not are_valid or not all(distinct([row[0] for row in rows]) for rows in (synset_of, parents_of)):
        return None
    found = []
    for label in labels:
        forms = [label, *(form for row in irregular if row.split()[0] == label for form in row.split()[1:])]
        forms += [label[: -len(ending)] + base for ending, base in PLURALS if label.endswith(ending)]
        synsets = [synsets.split("|")[0] for form in forms for lemma, synsets in synset_of if lemma == form]
        parents = [cell for row in parents_of if row[0] in synsets[:1] for cell in row[2:] if cell]
        found.append(sorted({parent for cell in parents for parent in cell.split("|")}))
    return found


def are_synsets(cell: str) -> bool:
    return all(re.fullmatch("n[0-9]{8}", name) for name in cell.split("|"))


PLURALS = [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man")]
PLURALS += [("ies", "y")]


def noun_rows(files: Files, name: str, header: str | None) -> list[str] | None:
    """Return the lines of a file of WordNet after its header, without blank lines."""
    text = table_text(files.get(name, b""))
    if not text or not text.endswith("\n"):
        return None
    lines = text.split("\n")
    if header is not None and lines.pop(0) != header:
        return None
    return [line for line in lines if line.strip()]


def words_text(files: Files, wanted: list[str]) -> dict[str, list[float]] | None:
    """Return the vectors of wanted words in a text of word vectors."""
    if files["w.txt"][-1:] not in (b"\n", b"\r"):
        return None
    lines = files["w.txt"].removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[-1] == b"":
        del lines[-1]
    lines = [line.removesuffix(b"\r").removesuffix(b" ") for line in lines]
    if not lines:
        return None
    is_header = re.fullmatch(rb"[0-9]+ [0-9]+", lines[0]) is not None
    counts = Counter(line.count(b" ") for line in lines[is_header:][:99])
    dimensions = max(counts, key=lambda size: counts[size], default=0)
    if dimensions == 0:
        return None
    if is_header:
        n_words, said = (int(number) for number in lines[0].split(b" "))
        if said != dimensions and dimensions > 1:
            return None
        if said == dimensions:
            del lines[0]
            if n_words != len(lines):
                return None
    found: dict[str, list[float]] = {}
    for line in lines:
        pieces = line.split(b" ")
        word, texts = b" ".join(pieces[:-dimensions]), pieces[-dimensions:]
        if len(pieces) <= dimensions or b"" in word.split(b" ") or not word:
            return None
        name = word.decode(errors="surrogateescape")
        if name in wanted and name not in found:
            if not all(re.fullmatch(rb"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", text) for text in texts):
                return None
            found[name] = [_in_32_bits(float(text)) for text in texts]
            if any(abs(number) == float("inf") for number in found[name]):
                return None
    return {name: numbers for name, numbers in sorted(found.items()) if any(numbers)}


def _in_32_bits(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return float("inf")


def parents_json(files: Files, labels: list[str]) -> list[list[str]] | None:
    """Return the parents of each mid in Open Images' hierarchy."""
    found: set[tuple[str, str]] = set()

    def walk(node: Any, parent: str | None) -> None:
        mid, children = node["LabelName"], node.get("Subcategory", [])
        if not isinstance(mid, str) or not isinstance(children, list):
            raise ValueError
        found.update({(mid, parent)} if parent is not None else ())
        for child in children:
            walk(child, mid)

    try:
        walk(json.loads(files["h.json"]), None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return [sorted(parent for child, parent in found if child == label) for label in labels]


def pairs_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def table_jsonl(files: Files) -> Reading | None:
    text = table_text(files["t.jsonl"])
    found: list[tuple[Any, Any, int]] = []
    for line in (text or "").split("\n"):
        if line.strip():
            try:
                value = json.loads(line, object_pairs_hook=pairs_once, parse_int=str)
            except (ValueError, RecursionError):
                return None
            if not isinstance(value, dict) or not {"image", "label"} <= set(value):
                return None
            if not is_count(value.get("count", "1")):
                return None
            found.append((value["image"], value["label"], int(value.get("count", "1").strip())))
    if any(unencodable(cell) for row in found for cell in row[:2]):
        return None
    return add_up(found)


def unencodable(cell: Any) -> bool:
    try:
        str(cell).encode()
    except UnicodeEncodeError:
        return True
    return False


def openimages(files: Files) -> Reading | None:
    """Read the labels with a confidence of at least 0.5 of the parts train and validation."""
    ids: dict[str, set[int]] = {}
    labels: set[str] = set()
    found = set()
    for part in ("train", "validation"):
        data = files.get(f"{part}/labels.csv")
        if data is None:
            return None
        lines = data.split(b"\n")
        if lines and not lines[-1]:
            del lines[-1]
        try:
            header = lines[0].decode("utf-8-sig").strip() if lines else ""
            rows = [line.removesuffix(b"\r").decode().split(",") for line in lines[1:]]
        except UnicodeDecodeError:
            return None
        if header != "ImageID,Source,LabelName,Confidence":
            return None
        ids[part] = set()
        for row in rows:
            if len(row) != 4 or not re.fullmatch("[0-9a-fA-F]{16}", row[0]) or not is_name(row[2]):
                return None
            try:
                confidence = float(row[3])
            except ValueError:
                return None
            if not 0 <= confidence <= 1:
                return None
            ids[part].add(int(row[0], 16))
            if confidence >= 0.5:
                labels.add(row[2])
                found.add((f"{int(row[0], 16):016x}", row[2]))
    if ids["train"] & ids["validation"]:
        return None
    every = sorted(ids["train"] | ids["validation"])
    parts = ["train" if image in ids["train"] else "test" for image in every]
    return Reading([f"{image:016x}" for image in every], sorted(labels), dict.fromkeys(found, 1), parts)


def mirflickr(files: Files) -> Reading | None:
    """Read tags, with the stop tags "delete" and "nikon*"."""
    tags_of = {str(int(re.sub("[^0-9]", "", name))): set() for name in files}
    for name, data in files.items():
        for line in data.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n").split(b"\n"):
            try:
                tag = line.decode()
            except UnicodeDecodeError:
                continue
            if not re.match(r"[^\W\d]\w*:\w+=", tag):
                name_of_tag = tag
                for _ in range(4):
                    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name_of_tag).casefold())
                    name_of_tag = "".join(letter for letter in folded if unicodedata.category(letter)[0] in "LMN")
                if name_of_tag and name_of_tag != "delete" and not name_of_tag.startswith("nikon"):
                    tags_of[str(int(re.sub("[^0-9]", "", name)))].add(name_of_tag)
    labels = sorted(set().union(*tags_of.values()))
    counts = {(image, tag): 1 for image, tags in tags_of.items() for tag in tags}
    return Reading(sorted(tags_of, key=int), labels, counts) if labels else None


def arff_tokens(line: str) -> list[str]:
    """Split a header line into words, quoted names as '"' and the name, up to a comment."""
    words, position = [], 0
    while position < len(line) and line[position] != "%":
        sign, end = line[position], position + 1
        if sign in "'\"":
            name = '"'
            while end < len(line) and line[end] != sign:
                end += line[end] == "\\"
                name += line[end : end + 1]
                end += 1
            words.append(name if end < len(line) else "")
            end += 1
        elif sign == "{":
            end = line.find("}", position) + 1 or len(line)
            words.append("".join(line[position:end].split()))
        elif not sign.isspace():
            while end < len(line) and not line[end].isspace() and line[end] not in "{},%":
                if line[end] in "'\"" and line[end - 1] != "\\":
                    break
                end += 1
            words.append(line[position:end])
        position = end
    return words


def arff_number(word: str) -> float | None:
    found = re.fullmatch(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*", word, re.ASCII)
    return float(word) if found and abs(float(word)) < 3.40282356e38 else None


def arff_row(line: str, width: int) -> list[float] | None:
    if not line.startswith("{"):
        values = [arff_number(cell) for cell in line.split(",")]
        return None if None in values or len(values) != width else values  # type: ignore[return-value]
    if len(line) < 2 or not line.endswith("}"):
        return None
    row, before = [0.0] * width, -1
    for entry in line[1:-1].split(",") if line[1:-1].strip() else []:
        found = re.fullmatch(r"\s*([0-9]{1,9})\s+(\S+)\s*", entry, re.ASCII)
        value = arff_number(found[2]) if found else None
        if found is None or value is None or not before < int(found[1]) < width:
            return None
        before = int(found[1])
        row[before] = value
    return row


def mulan_labels(data: bytes) -> list[str] | None:
    try:
        elements = minidom.parseString(data).getElementsByTagName("*")
    except (ExpatError, LookupError, ValueError):
        return None
    kinds = [element.localName for element in elements]
    names = [" ".join(element.getAttribute("name").split()) for element in elements][1:]
    well_formed = kinds == ["labels", *["label"] * len(names)] and b"<!DOCTYPE" not in data.replace(b"\0", b"")
    return names if well_formed and names and all(map(is_name, names)) and distinct(names) else None


def mulan(files: Files, kind: str) -> tuple[Reading, list[list[float]]] | None:
    lines, labels = text_lines(files.get("a.arff", b"\xff")), mulan_labels(files.get("l.xml", b""))
    attributes: dict[str, bool] = {}
    shown: dict[str, str] = {}
    for number, line in enumerate(lines or []):
        words = arff_tokens(line)
        keyword = line.split("%")[0].split()[:1]
        match [word.lower() for word in keyword]:
            case ["@data"] if attributes:
                rows = [row.split("%")[0].strip() for row in (lines or [])[number + 1 :]]
                found = mulan_rows([row for row in rows if row], kind, attributes, labels)
                return None if found is None else mulan_names(*found, shown)
            case ["@attribute"]:
                _, name, of = words if len(words) == 3 else ["", "", ""]
                quoted, name = name.startswith('"'), " ".join(name.removeprefix('"').split()) if name else ""
                binary = re.sub("['\"]([01])['\"]", r"\1", of) == "{0,1}"
                if name in attributes or not (binary or of.lower() in ("numeric", "real", "integer")):
                    return None
                attributes[name] = binary
                shown[name] = name if quoted else re.sub(r"\\(.)", r"\1", name)
            case [] | ["@relation"]:
                pass
            case _:
                return None
    return None


def mulan_names(
    reading: Reading, features: list[list[float]], shown: dict[str, str]
) -> tuple[Reading, list[list[float]]] | None:
    labels = [shown[label] for label in reading.labels]
    counts = {(image, shown[label]): count for (image, label), count in reading.counts.items()}
    return (Reading(reading.images, labels, counts, reading.parts), features) if distinct(labels) else None


def mulan_rows(
    rows: list[str], kind: str, attributes: dict[str, bool], labels: list[str] | None
) -> tuple[Reading, list[list[float]]] | None:
    if not rows or labels is None or not set(labels) < set(attributes):
        return None
    images = [f"a-{row:06d}" for row in range(1, len(rows) + 1)]
    counts, features = {}, []
    for image, line in zip(images, rows, strict=True):
        row = arff_row(line, len(attributes))
        if row is None or line.startswith("{") != (kind == "sparse"):
            return None
        values = dict(zip(attributes, (struct.unpack("<f", struct.pack("<f", value))[0] for value in row), strict=True))
        if any(values[name] not in (0, 1) for name in attributes if attributes[name] or name in labels):
            return None
        counts.update({(image, label): 1 for label in labels if values[label]})
        features.append([value for name, value in values.items() if name not in labels])
    parts = ["train"] + ["test"] * (len(images) - 1)
    return (Reading(images, labels, counts, parts), features) if len(images) > 1 else None


def xc_repository(files: Files, split: int) -> tuple[Reading, list[list[float]]] | None:
    """Read `x.txt` with the split files `tr.txt` and `ts.txt`."""
    first, *lines = files.get("x.txt", b"").split(b"\n")
    sizes = [int(word) if re.fullmatch(rb"[0-9]{1,8}", word) else 0 for word in first.split()]
    if len(sizes) != 3 or 0 in sizes or sizes[2] > 9_999_999 or any(line.strip() for line in lines[sizes[0] :]):
        return None
    if len(lines) < sizes[0] or (len(lines) == sizes[0] and not lines[-1]):
        return None
    images = [f"x-{number:06d}" for number in range(1, sizes[0] + 1)]
    counts, features = {}, []
    for image, line in zip(images, lines, strict=False):
        read = xc_line(line.removesuffix(b"\r"), sizes[1], sizes[2])
        if read is None:
            return None
        counts.update({(image, label): 1 for label in read[0]})
        features.append([read[1].get(number, 0.0) for number in range(sizes[1])])
    parts: list[str | None] = [None] * sizes[0]
    for part, name in (("train", "tr.txt"), ("test", "ts.txt")):
        for line in files.get(name, b"").rstrip().split(b"\n"):
            words = re.split(rb"[ \t]+", line.strip())
            if len(words) < split or not all(re.fullmatch(rb"[0-9]{1,9}", word) for word in words):
                return None
            image_number = int(words[split - 1])
            if not 1 <= image_number <= sizes[0] or parts[image_number - 1]:
                return None
            parts[image_number - 1] = part
    return Reading(images, [str(label) for label in range(sizes[2])], counts, parts), features  # type: ignore[arg-type]


def xc_line(line: bytes, n_features: int, n_labels: int) -> tuple[set[str], dict[int, float]] | None:
    head, *words = line.split(b" ")
    labels = [int(word) if re.fullmatch(rb"[0-9]{1,9}", word) else n_labels for word in head.split(b",") if head]
    if any(label >= n_labels for label in labels):
        return None
    values: dict[int, float] = {}
    for word in b" ".join(words).strip().split(b" "):
        found = re.fullmatch(rb"([0-9]{1,9}):(\S+)", word)
        value = arff_number(found[2].decode(errors="replace")) if found else None
        if word and (found is None or value is None or int(found[1]) >= n_features or int(found[1]) in values):
            return None
        if found is not None and value is not None:
            values[int(found[1])] = struct.unpack("<f", struct.pack("<f", value))[0]
    return {str(label) for label in labels}, values


def mirflickr_concepts(files: Files) -> Reading | None:
    counts = {}
    names = sorted(name for name in files if re.fullmatch(r"[a-z_]+(_r1)?\.txt", name))
    for name in names:
        lines = whole_lines(files[name])
        if lines is None or not all(is_number(line) and len(line) < 10 and 1 <= int(line) <= 25000 for line in lines):
            return None
        if not distinct([str(int(line)) for line in lines]):
            return None
        counts.update({(f"im{int(line)}", name[:-4]): 1 for line in lines})
    images = [f"im{number}" for number in range(1, 25001)]
    parts = ["train"] * 2 + ["test"] * 3 + [None] * 24995
    return Reading(images, [name[:-4] for name in names], counts, parts) if names else None  # type: ignore[arg-type]


def recognize_anything(files: Files) -> Reading | None:
    lines, labels = (whole_lines(files[name]) if name in files else None for name in ("a.txt", "l.txt"))
    if not lines or not labels or not all(map(is_name, labels)) or not distinct(labels):
        return None
    images, counts = [], {}
    for line in lines:
        path, *names = line.split(",")
        image = path.split("/")[-1]
        image = re.fullmatch(r"(.+)\.[^.]*|.*", image, re.DOTALL).group(1) or image  # type: ignore[union-attr]
        if not is_name(image) or not set(names) <= set(labels) or not distinct(names):
            return None
        images.append(image)
        counts.update({(image, name): 1 for name in names})
    return Reading(images, labels, counts, None) if distinct(images) else None


VOC_CLASSES = [
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog"),
    *("horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
]


def voc2007(files: Files) -> Reading | None:
    part_of: dict[str, str] = {}
    every: list[str] = []
    counts = {}
    for of_classes, parts in (("trainval", {"train": "train", "val": "valid"}), ("test", {"test": "test"})):
        images: list[str] = []
        for name, part in parts.items():
            lines = text_lines(files.get(f"{name}.txt", b"\xff"))
            if not lines or any(not is_name(line) or any(letter.isspace() for letter in line) for line in lines):
                return None
            images += lines
            part_of.update(dict.fromkeys(lines, part))
        for label in VOC_CLASSES:
            lines = text_lines(files.get(f"{label}_{of_classes}.txt", b"\xff"))
            rows = [line.split() for line in lines or []]
            if any(len(row) != 2 or row[1] not in ("-1", "0", "1") for row in rows):
                return None
            if sorted(row[0] for row in rows) != sorted(images):
                return None
            counts.update({(row[0], label): 1 for row in rows if row[1] == "1"})
        every += images
    every.sort()
    return Reading(every, VOC_CLASSES, counts, [part_of[image] for image in every]) if distinct(every) else None


def has_ids(entries: Any) -> bool:
    """Return whether these are objects with distinct whole numbers `id`."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return False
    ids = [entry.get("id") for entry in entries]
    return all(isinstance(number, int) and not isinstance(number, bool) for number in ids) and distinct(ids)


def is_printable(name: Any) -> bool:
    return isinstance(name, str) and all(c == " " or unicodedata.category(c)[0] not in "CZ" for c in name)


def mscoco(files: Files) -> Reading | None:
    """Read the objects of each image; the two files have to name the same categories."""
    images: list[str] = []
    parts: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    named = []
    for name, part in (("instances_train2014.json", "train"), ("instances_val2014.json", "test")):
        try:
            content = json.loads(files[name].decode("utf-8-sig"), object_pairs_hook=pairs_once)
        except (KeyError, ValueError, RecursionError):
            return None
        lists = ("images", "categories", "annotations")
        if not isinstance(content, dict) or not all(has_ids(content.get(key)) for key in lists):
            return None
        own = [str(number) for number in sorted(image["id"] for image in content["images"])]
        categories = {str(category["id"]): category.get("name") for category in content["categories"]}
        if not own or not categories or not all(is_printable(name) and name.strip() for name in categories.values()):
            return None
        for annotation in content["annotations"]:
            image, category = (json.dumps(annotation.get(key)) for key in ("image_id", "category_id"))
            if image not in own or category not in categories:
                return None
            counts[image, categories[category]] += 1
        images += own
        parts += [part] * len(own)
        named.append(categories)
    labels = [named[0][number] for number in sorted(named[0], key=int)]
    if named[0] != named[1] or not distinct(images) or not distinct(labels):
        return None
    return Reading(images, labels, dict(counts), parts)


def visual_genome(files: Files, key: str = "synsets") -> Reading | None:
    """Read the objects of each image; every image has to be in the list of images."""
    by_file = []
    for name in ("image_data.json", "objects.json"):
        try:
            content = json.loads(files[name].decode("utf-8-sig"), object_pairs_hook=pairs_once)
        except (KeyError, ValueError, RecursionError):
            return None
        if not isinstance(content, list) or not content or not all(isinstance(entry, dict) for entry in content):
            return None
        if not has_ids([{"id": entry.get("image_id")} for entry in content]):
            return None
        by_file.append({entry["image_id"]: entry for entry in content})
    counts: Counter[tuple[str, str]] = Counter()
    for number, entry in by_file[1].items():
        objects = entry.get("objects")
        if number not in by_file[0] or not isinstance(objects, list):
            return None
        for thing in objects:
            names = thing.get(key) if isinstance(thing, dict) else None
            if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
                return None
            if not all(is_printable(name.strip()) for name in names):
                return None
            counts.update((str(number), name) for name in {name.strip() for name in names})
    images = [str(number) for number in sorted(by_file[0])]
    return Reading(images, sorted({name for _, name in counts}), dict(counts)) if counts else None


def nuswide_bow(files: Files) -> list[list[float]] | None:
    rows: list[list[float]] = []
    for name, size in (("BoW_Train_int.dat", 2), ("BoW_Test_int.dat", 1)):
        lines = files.get(name, b"").split(b"\n")
        while lines and not lines[-1].strip(b" \t\r"):
            del lines[-1]
        if len(lines) != size:
            return None
        for line in lines:
            words = re.split(r"[ \t\r]+", line.decode("latin-1").strip(" \t\r"))
            values = [arff_number(word) for word in words]
            if None in values or len(values) != len((rows or [values])[0]):
                return None
            rows.append([struct.unpack("<f", struct.pack("<f", value))[0] for value in values])
    return rows
