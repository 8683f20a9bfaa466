"""Files of word vectors: text with and without a header, word2vec binary, .npz; odd files and the real subsets."""

import gzip
import io
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsebench.core.errors import UserError
from vsebench.formats.word_vectors import npz_vectors, text_vectors, word2vec_binary

WANTED = ["sky", "tree", "New_York", "ÿ"]


def read(folder, data, adapter=text_vectors, wanted=WANTED, name="w.txt", **options):
    (folder / name).write_bytes(data)
    return adapter.read_vectors(folder, adapter.Options(file=name, **options), wanted)


def plain(found):
    return {word: vector.tolist() for word, vector in found.vectors.items()}


def refusal(folder, data, adapter=text_vectors, **options):
    with pytest.raises(UserError) as error:
        read(folder, data, adapter, **options)
    message = str(error.value)
    assert message.startswith(f"{folder / 'w.txt'}: ")
    return message.removeprefix(f"{folder / 'w.txt'}: ")


def binary(rows, header=None, newline=b"\n"):
    """Return a file of word2vec; rows are (word, numbers)."""
    header = f"{len(rows)} {len(rows[0][1])}".encode() if header is None else header
    vectors = (word + b" " + struct.pack(f"<{len(numbers)}f", *numbers) + newline for word, numbers in rows)
    return header + b"\n" + b"".join(vectors)


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.txt", data)
    return buffer.getvalue()


# Text


def test_only_the_wanted_words_are_kept(tmp_path):
    found = read(tmp_path, b"sky 0.5 -1.25\nsea 1 2\ntree 2e-3 +.5\n")
    assert plain(found) == {"sky": [0.5, -1.25], "tree": [np.float32(2e-3), 0.5]}
    assert all(vector.dtype == np.float32 for vector in found.vectors.values())
    assert (found.dimensions, found.repeated) == (2, [])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \n"])
def test_a_header_and_ends_of_lines_are_no_words(tmp_path, end):
    data = b"2 3" + end + b"sky 1 2 3" + end + b"tree 4 5 6" + end
    assert plain(read(tmp_path, data)) == {"sky": [1, 2, 3], "tree": [4, 5, 6]}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"3 2\nsky 7\n", {"sky": [7]}),  # a word that is a number is no header
        (b". . . 1 2\nat name@domain.com 3 4\nsky 5 6\ntree 7 8\n", {"sky": [5, 6], "tree": [7, 8]}),
        (b"sky 0 0\ntree 0 1\nsky 1 1\n", {"tree": [0, 1]}),  # a vector of zeros is missing
        (b"\xff\xfe 1 2\nsky 3 4\n", {"sky": [3, 4]}),  # a word that is not UTF-8 disturbs no other
        (b"\xef\xbb\xbfsky 1 2\nsea 3 4\n", {"sky": [1, 2]}),
    ],
)
def test_odd_words_disturb_no_other(tmp_path, data, expected):
    assert plain(read(tmp_path, data)) == expected


def test_characters_at_which_python_would_cut_are_parts_of_words(tmp_path):
    odd = ["a\x85b", "a\xa0b", "a\u2028b", "a\0b", "a\x0bb"]
    data = "".join(f"{word} {number} 1\n" for number, word in enumerate(odd))
    assert plain(read(tmp_path, data.encode(), wanted=odd)) == {word: [i, 1] for i, word in enumerate(odd)}


def test_of_a_word_that_is_there_twice_the_first_counts(tmp_path):
    found = read(tmp_path, b"sky 1\ntree 2\nsky 3\nsky 4\nsea 5\nsea 6\n")
    assert plain(found) == {"sky": [1], "tree": [2]}
    assert found.repeated == ["sky"]


letters = st.characters(codec="utf-8", exclude_characters=" \n\r\ufeff")
token = st.text(letters, min_size=1).filter(lambda word: not word.isdigit())
number = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(
    st.integers(2, 5).flatmap(lambda d: st.dictionaries(token, st.lists(number, min_size=d, max_size=d), min_size=2)),
    st.booleans(),
    st.data(),
)
def test_what_was_written_is_read(tmp_path_factory, rows, with_header, data):
    """As text with the shortest decimals, and in binary; both give the same bits."""
    folder = tmp_path_factory.mktemp("words")
    wanted = data.draw(st.sets(st.sampled_from(sorted(rows))))
    expected = {word: rows[word] for word in wanted if any(rows[word])}
    text = "".join(f"{word} {' '.join(str(np.float32(x)) for x in numbers)}\n" for word, numbers in rows.items())
    header = f"{len(rows)} {len(next(iter(rows.values())))}\n" if with_header else ""
    assert plain(read(folder, (header + text).encode(), wanted=wanted)) == expected
    as_bytes = binary([(word.encode(), numbers) for word, numbers in rows.items()])
    assert plain(read(folder, as_bytes, word2vec_binary, wanted=wanted)) == expected
    names = np.array(list(rows), dtype=object).astype(str)
    if names.tolist() == list(rows):  # NumPy drops NUL at the end of a text
        np.savez(folder / "w.npz", words=names, vectors=np.array(list(rows.values()), dtype=np.float32))
        found = npz_vectors.read_vectors(folder, npz_vectors.Options(file="w.npz"), wanted)
        assert plain(found) == expected


# Several vectors per word


def test_vectors_of_prompts_are_scaled_to_length_1_and_averaged(tmp_path):
    """The first word has two prompts; the second has one, since its other vector is zero; the third has none."""
    vectors = np.array([[[3.0, 4.0], [0.0, 2.0]], [[0.0, 0.0], [5.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    np.savez(tmp_path / "w.npz", words=np.array(["sky", "tree", "sea"]), vectors=vectors)
    found = npz_vectors.read_vectors(tmp_path, npz_vectors.Options(file="w.npz"), ["sky", "tree", "sea"])
    assert plain(found) == {"sky": [pytest.approx(0.3), pytest.approx(0.9)], "tree": [1, 0]}
    assert found.dimensions == 2


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e200])
def test_a_prompt_whose_vector_is_not_finite_is_one_line(tmp_path, wrong):
    np.savez(tmp_path / "w.npz", words=np.array(["sky"]), vectors=np.array([[[1.0, 2.0], [wrong, 0.0]]]))
    with pytest.raises(UserError, match=r"w\.npz: row 1: the vector of 'sky' has a number that is not finite"):
        npz_vectors.read_vectors(tmp_path, npz_vectors.Options(file="w.npz"), ["sky"])


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 2, 2, 2), (2, 0, 3)])
def test_vectors_of_another_shape_are_one_line(tmp_path, shape):
    np.savez(tmp_path / "w.npz", words=np.array(["sky", "tree"]), vectors=np.ones(shape))
    with pytest.raises(UserError, match="for several vectors per word"):
        npz_vectors.read_vectors(tmp_path, npz_vectors.Options(file="w.npz"), ["sky"])


# Compressed


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped(w=data)], ids=["gzip", "zip"])
@pytest.mark.parametrize("adapter", [text_vectors, word2vec_binary])
def test_compression_is_read_off_the_first_bytes(tmp_path, pack, adapter):
    data = b"sky 1 2\nsea 3 4\n" if adapter is text_vectors else binary([(b"sky", [1, 2]), (b"sea", [3, 4])])
    assert plain(read(tmp_path, pack(data), adapter, name="w.dat")) == {"sky": [1, 2]}


def test_an_archive_of_several_files_needs_the_name_of_one(tmp_path):
    data = zipped(a=b"sky 1 2\n", b=b"sky 3 4 5\n")
    assert plain(read(tmp_path, data, member="b.txt")) == {"sky": [3, 4, 5]}
    assert refusal(tmp_path, data) == "contains a.txt, b.txt; name one of them in options.member"
    assert refusal(tmp_path, data, member="c.txt") == "contains no c.txt; it contains a.txt, b.txt"
    assert "is not a zip archive" in refusal(tmp_path, b"sky 1\n", member="c.txt")
    assert "the archive contains no file" in refusal(tmp_path, zipped())


# Binary


@pytest.mark.parametrize("newline", [b"\n", b""])
def test_the_line_break_after_a_vector_may_be_missing(tmp_path, newline):
    rows = [(b"</s>", [1, 2]), (b"\xff", [3, 4]), (b"New_York", [5, 6]), (b"sky", [7, 8])]
    found = read(tmp_path, binary(rows, newline=newline), word2vec_binary)
    assert plain(found) == {"New_York": [5, 6], "sky": [7, 8]}
    assert found.dimensions == 2


def test_a_vector_may_hold_the_bytes_of_blanks_and_line_breaks(tmp_path):
    blanks = struct.unpack("<2f", b"   \n\n\n  ")
    found = read(tmp_path, binary([(b"sky", blanks), (b"tree", [1, 2])]), word2vec_binary)
    assert plain(found) == {"sky": list(blanks), "tree": [1, 2]}


def test_a_binary_file_longer_than_a_block_is_read_whole(tmp_path):
    rng = np.random.default_rng(1)
    rows = [(f"w{i}".encode(), rng.normal(size=300).astype(np.float32).tolist()) for i in range(2000)]
    found = read(tmp_path, binary(rows), word2vec_binary, wanted=[word.decode() for word, _ in rows])
    assert plain(found) == {word.decode(): numbers for word, numbers in rows}


# The real subsets


@pytest.fixture(scope="module")
def glove(mirror):
    """The text of the real file, as plain Python reads it: word -> numbers."""
    lines = gzip.decompress((mirror / "glove.6B.300d.subset.txt.gz").read_bytes()).split(b"\n")
    return {line.split(b" ")[0].decode(): line.split(b" ")[1:] for line in lines if line}


def test_the_real_glove_subset(mirror, glove):
    options = text_vectors.Options(file="glove.6B.300d.subset.txt.gz")
    found = text_vectors.read_vectors(mirror, options, [*glove, "no such word"])
    assert list(found.vectors) == list(glove)
    assert (len(glove), found.dimensions, found.repeated) == (5299, 300, [])
    for word in ('"', "'s", "-", ",", "1", "t-shirt", "sky"):
        assert found.vectors[word].tolist() == np.array(glove[word], dtype=np.float32).tolist()
    assigned = (mirror / "glove.6B.300d.subset.assigned.txt").read_text().split()
    assert len(assigned) == 827
    assert set(assigned) <= set(found.vectors)


@pytest.mark.parametrize(
    ("adapter", "file"),
    [(text_vectors, "fasttext-layout.subset.vec.gz"), (word2vec_binary, "word2vec-layout.subset.bin.gz")],
)
def test_the_other_layouts_have_the_same_vectors(mirror, glove, adapter, file):
    found = adapter.read_vectors(mirror, adapter.Options(file=file), glove)
    assert len(found.vectors) == 1500
    for word, vector in found.vectors.items():
        assert np.array_equal(vector, np.array(glove[word], dtype=np.float32)), word
