import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.formats.test_nuswide_concepts import write as write_concepts
from vsebench.core.errors import UserError
from vsebench.formats.readers.nuswide_tags import Options, parse_matrix, read

FINAL = Options(tags="final")
ENDS = st.sampled_from(["\n", "\r\n", "\t\n", " \r\n"])


def write(folder, content):
    with zipfile.ZipFile(folder / "NUS_WID_Tags.zip", "w") as archive:
        for name, text in content.items():
            archive.writestr(f"NUS_WID_Tags/{name}", text)


def rows(matrix, separator="\t", end="\t\n"):
    return "".join(separator.join(str(int(value)) for value in row) + end for row in matrix)


def matrices(matrix, n_train, names, **layout):
    return {
        "TagList1k.txt": "\n".join(names),
        "Train_Tags1k.dat": rows(matrix[:n_train], **layout),
        "Test_Tags1k.dat": rows(matrix[n_train:], **layout),
        "AllTags1k.txt": "not read",
    }


def dense(annotations):
    found = np.zeros((len(annotations.images), len(annotations.labels)), dtype=int)
    found[annotations.pairs["image"], annotations.pairs["label"]] = annotations.pairs["count"]
    return found


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=4)


@given(st.data())
def test_the_tags_that_were_written_are_read(tmp_path_factory, data):
    names = data.draw(st.lists(WORDS, min_size=2, max_size=9, unique=True))
    n_listed = data.draw(st.integers(1, len(names)))
    images = data.draw(st.lists(st.lists(st.integers(0, len(names) - 1)), min_size=1, max_size=9))
    separator, end = data.draw(st.sampled_from([" ", "\t", "  "])), data.draw(ENDS)
    lines = [separator.join([str(1000 + i), *(names[j] for j in image)]) + end for i, image in enumerate(images)]
    folder = tmp_path_factory.mktemp("raw")
    write(folder, {"Final_Tag_List.txt": end.join(names[:n_listed]) + end, "All_Tags.txt": "".join(lines)})
    annotations = read(folder, FINAL)
    assert annotations.images.to_list() == [str(1000 + i) for i in range(len(images))]
    assert annotations.labels == names[:n_listed]
    assert annotations.parts is None
    wanted = np.zeros((len(images), n_listed), dtype=int)
    for i, image in enumerate(images):
        wanted[i, [j for j in image if j < n_listed]] = 1
    assert np.array_equal(dense(annotations), wanted)


@given(st.data())
def test_the_matrix_that_was_written_is_read(tmp_path_factory, data):
    shape = data.draw(st.tuples(st.integers(2, 12), st.integers(1, 6)))
    matrix = data.draw(arrays(bool, shape))
    n_train = data.draw(st.integers(0, shape[0]))
    layout = {"separator": data.draw(st.sampled_from([" ", "\t", "  "])), "end": data.draw(ENDS)}
    folder = tmp_path_factory.mktemp("raw")
    names = [f"tag{i}" for i in range(shape[1])]
    write(folder, matrices(matrix, n_train, names, **layout))
    annotations = read(folder, Options(tags="1k"))
    assert annotations.labels == names
    assert annotations.images.to_list() == [f"Train-{i + 1:06d}" for i in range(n_train)] + [
        f"Test-{i + 1:06d}" for i in range(shape[0] - n_train)
    ]
    assert annotations.parts.to_list() == ["train"] * n_train + ["test"] * (shape[0] - n_train)
    assert np.array_equal(dense(annotations), matrix)


def test_a_matrix_of_many_blocks():
    matrix = np.random.default_rng(0).random((90, 100)) < 0.1
    text, line = rows(matrix).encode(), 201

    def parse(data):
        return parse_matrix(data, 100, "x.dat", block_size=1000)

    n_lines, image, tag = parse(text + b"\n \n")
    assert n_lines == 90
    assert np.array_equal(np.stack([image, tag]), np.nonzero(matrix))
    with pytest.raises(UserError, match=r"x\.dat: line 44: '7' is neither 0 nor 1"):
        parse(text[: 43 * line + 40] + b"7" + text[43 * line + 41 :])
    with pytest.raises(UserError, match=r"x\.dat: line 22: "):
        parse(text[: 21 * line] + b"\n" * 3000 + text[21 * line :])


CONCEPTS = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)  # named c0 and c1
TAGS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
NAMES = ["sky", "c1", "dog"]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, matrices(TAGS, 2, NAMES))
    write_concepts(tmp_path, CONCEPTS, 2)
    return tmp_path


def test_tags_that_are_no_concept(folder):
    annotations = read(folder, Options(tags="925"))
    assert annotations.labels == ["sky", "dog"]
    assert np.array_equal(dense(annotations), TAGS[:, [0, 2]])
    assert [(entry.what, entry.number) for entry in annotations.dropped] == [("tags", 1)]


def test_tags_and_concepts_together(folder):
    annotations = read(folder, Options(tags="1006"))
    assert annotations.labels == ["sky", "dog", "c0", "c1"]
    assert np.array_equal(dense(annotations), np.hstack([TAGS[:, [0, 2]], CONCEPTS]))
    assert annotations.parts.to_list() == ["train", "train", "test"]


def test_tags_and_concepts_of_different_images(folder):
    write_concepts(folder, CONCEPTS, 1)
    with pytest.raises(UserError, match=r"Train_Tags1k\.dat: has 2 images, Groundtruth\.zip has 1"):
        read(folder, Options(tags="1006"))


def test_what_is_left_out_is_noted(tmp_path):
    lines = b"7 dog sky dog cat\n8 Dog \xff\xfe\n7 sky\n9\n7 dog\n\n"
    write(tmp_path, {"Final_Tag_List.txt": "sky\ndog\n", "All_Tags.txt": lines})
    annotations = read(tmp_path, FINAL)
    assert annotations.images.to_list() == ["7", "8", "7-2", "9", "7-3"]
    assert dense(annotations).tolist() == [[1, 1], [0, 0], [1, 0], [0, 0], [0, 1]]
    assert [(entry.number, entry.why) for entry in annotations.dropped] == [
        (1, "repeated on the same image"),
        (1, "in the list only in lower case"),
    ]


FAULTS = {
    "blank line": ("All_Tags.txt", "1 sky\n\n2 dog\n", "All_Tags.txt: line 2: '' is not a photo id"),
    "no photo id": ("All_Tags.txt", "1 sky\ndog\n", "All_Tags.txt: line 2: 'dog' is not a photo id"),
    "no image": ("All_Tags.txt", "", "All_Tags.txt: line 1: '' is not a photo id"),
    "no list": ("Final_Tag_List.txt", "\n", "Final_Tag_List.txt: names no tag"),
    "blank in the list": ("Final_Tag_List.txt", "sky\n\ndog", "Final_Tag_List.txt: line 2: is blank"),
    "tag twice": ("Final_Tag_List.txt", "sky\nsky\n", "Final_Tag_List.txt: duplicate tag 'sky' (2 times)"),
    "list not UTF-8": ("Final_Tag_List.txt", b"sky\n\xff\n", "Final_Tag_List.txt: line 2: not UTF-8 text"),
    "too few values": ("Test_Tags1k.dat", "1\t1\t0\n1\t1\n", "line 2: has 2 values, but TagList1k.txt has 3 tags"),
    "too many values": ("Test_Tags1k.dat", "1 1 0 0\n", "line 1: has 4 values, but TagList1k.txt has 3 tags"),
    "values side by side": ("Test_Tags1k.dat", "1 10\n", "line 1: '10' is neither 0 nor 1"),
    "negative value": ("Train_Tags1k.dat", "1 1 0\n0 -1 0\n", "Train_Tags1k.dat: line 2: '-1' is neither 0 nor 1"),
    "blank line between": ("Test_Tags1k.dat", "1 1 0\n\n0 1 0\n", "line 2: has 0 values"),
    "no bytes that belong there": ("Test_Tags1k.dat", b"1 1 0\n0 \x00 1\n", "line 2: '\\x00' is neither 0 nor 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(folder, fault):
    name, text, message = FAULTS[fault]
    content = {"Final_Tag_List.txt": "sky\ndog\n", "All_Tags.txt": "1 sky\n"} | matrices(TAGS, 2, NAMES) | {name: text}
    write(folder, content)
    with pytest.raises(UserError) as error:
        read(folder, Options(tags="1006" if name.endswith(".dat") else "final"))
    assert message in str(error.value)
    assert "NUS_WID_Tags.zip" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_member_is_named(folder):
    with pytest.raises(UserError, match=r"NUS_WID_Tags\.zip: contains no Final_Tag_List\.txt, All_Tags\.txt"):
        read(folder, FINAL)
