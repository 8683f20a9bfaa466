"""Each reader turns each fault of a file into one clear line; the whole files are those of tests/fuzz/targets.py."""

import gzip
import struct

import numpy as np
import pytest

from tests.formats.readers.ilsvrc2010_files import TEST_TRUTH, VALID_TRUTH, meta_mat, sbow_mat, synset
from tests.fuzz.targets import COCO, GLOVE, MULAN_HEADER, NOUNS, OPENIMAGES, ROWS, TARGETS, VOC_VALUES, hvecs, saved
from vsebench.core.errors import UserError
from vsebench.formats.parents import wordnet
from vsebench.formats.word_vectors.word_files import FASTTEXT_BIN

# Readers that accept a missing file.
ROBUST = {"saiapr", "mirflickr", "mirflickr concepts", "ILSVRC 2010", "table, cells of Parquet"}
READERS = [name for name in TARGETS if name not in ROBUST and not name.startswith(("results", "configuration"))]


def refusal(reader, changes, folder):
    """Return the message with which a reader refuses its whole files after `changes`; None removes a file."""
    folder.mkdir()
    files = {name: data for name, data in (TARGETS[reader].files | changes).items() if data is not None}
    with pytest.raises(UserError) as error:
        TARGETS[reader].read(files, folder)
    message = str(error.value)
    assert message.startswith(str(folder))
    return message


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\n"], ids=["missing", "empty", "garbage"])
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_missing_empty_or_garbage_is_refused(tmp_path, reader, content):
    for number, file in enumerate(TARGETS[reader].files):
        refusal(reader, {file: content}, tmp_path / str(number))


def openimages(line):
    """Return a table of Open Images with this third line."""
    return b"".join(OPENIMAGES["train/labels.csv"].splitlines(keepends=True)[:2]) + line + b"\nanother,fault\n"


def coco(old, new):
    return COCO["instances_val2014.json"].replace(old, new)


def word2vec(header, *vectors):
    return header + b"\n" + b"".join(word + b" " + struct.pack("<2f", *numbers) + b"\n" for word, numbers in vectors)


def words_npz(**arrays):
    return saved(lambda buffer: np.savez(buffer, **{name: np.array(value) for name, value in arrays.items()}))["f.npy"]


def npy(array):
    return saved(lambda buffer: np.save(buffer, array))["f.npy"]


def labels_xml(*names):
    return b"<labels>\n%s</labels>" % b"".join(b"<label name='%s'/>" % name for name in names)


DOG, CAT = "n02084071", "n02121808"
DOGS, CATS = synset(1, DOG, "dog", 2), synset(2, CAT, "cat", 2)
SKY_1, TREE_3 = (b"sky", (1, 2)), (b"tree", (3, 4))
NO_CHARACTER = npy(np.array(["a"] * 4)).replace(b"a\0\0\0", b"\0\0\0\x7f")
IDS = b"0123456789abcdef,machine"
FAULTS = {
    "lear": {
        "t_dictionary.txt": [
            (b"a\na\nb\n", "the label 'a' occurs 2 times; names must be unique"),
            (b"a\n\nb\n", "t_dictionary.txt: line 2: the label has an empty name"),
            (
                b"a\nsky\x1b[2J\nb\n",
                r"t_dictionary.txt: line 2: the label 'sky\x1b[2J' contains '\x1b'; remove control",
            ),
            (
                b"a\nb\nsk",
                "t_dictionary.txt: has no line break at its end, so a part of it may be missing; download it",
            ),
        ],
        "t_test_list.txt": [
            (b"01/1\nx\n", "the image '01/1' occurs 2 times; names must be unique"),
            (b"\n02/1\n", "t_test_list.txt: line 1: the image has an empty name"),
            (b"02/1\n02/\xe2\x80\xa82\n", r"t_test_list.txt: line 2: the image '02/\u20282' contains '\u2028'"),
            (b"02/1\n02/", "t_test_list.txt: has no line break at its end"),
        ],
        "t_train_list.txt": [(b"01/1\n\xff\n", "t_train_list.txt: line 2: not UTF-8 text")],
        "t_train_annot.hvecs": [
            (hvecs(ROWS[:1]), "has 1 rows, but t_train_list.txt has 2 images"),
            (hvecs(ROWS[:2])[:-3], "row 2: the file ends in the middle"),
            (hvecs([[1, 0, 0], [0, 7, 0]]), "row 2: label 2 is 7, but must be 0 or 1"),
            (hvecs(ROWS[:1]) + b"\2" + bytes(7), "row 2: its length is 2, but the dictionary has 3 labels"),
        ],
    },
    "saiapr": {
        "wlist.txt": [
            (None, "contains 0 files named wlist.txt"),
            (b"1\ta\n1\tb\n", "wlist.txt: line 2: '1\\tb' must be a code that no earlier line has"),
            (b"1\ta\n2\ta\n", "wlist.txt: line 2: the word 'a' occurs twice"),
            (b"1\ta\n2\tb\x07c\n", r"wlist.txt: line 2: the word 'b\x07c' contains '\x07'"),
            (b"3\tsky\n7\tman\n12\ttree-top\n13\ttre", "wlist.txt: has no line break at its end, so a part of it"),
        ],
        "00/labels.txt": [
            (b"1\t1\t3\n1\t2\t8\n", "00/labels.txt: line 2: the label code 8"),
            (b"1\tx\t3\n", "00/labels.txt: line 1: image, region and code must be whole"),
            (b"1\t3\n", "00/labels.txt: line 1: has 2 fields"),
            (b"1\t1\t3\n1\t2\t1", "00/labels.txt: has no line break at its end, so a part of it may be missing"),
        ],
        "02/labels.txt": [(b"1\t1\t7\n", "02/labels.txt: line 1: region 1 of image 1 occurs twice")],
    },
    "nuswide concepts": {
        "Concepts81.txt": [
            (b" \n", "Concepts81.txt: has 0 concepts instead of 2; use the official archive"),
            (b"sky\n", "Concepts81.txt: has 1 concepts instead of 2"),
            (b"sky\n\nlake\n", "Concepts81.txt: line 2: the concept has an empty name"),
            (b"sky\nlak", "Concepts81.txt: has no line break at its end"),
        ],
        "Labels_lake_Train.txt": [(b"0\n", "Labels_lake_Train.txt: has 1 lines, but Labels_sky_Train.txt has 3")],
        "Labels_sky_Test.txt": [(b"0\n2\n", "Labels_sky_Test.txt: line 2: b'2' must be 0 or 1")],
        "Labels_sky_Train.txt": [(b"0\n-1130179\n0\n", "line 2: b'-1130179' must be 0 or 1")],
    },
    "nuswide features": {
        "BoW_Train_int.dat": [
            (None, "contains no BoW_Train_int.dat; use the official archive"),
            (b"1 2 3\n", "has 1 lines of numbers, but Groundtruth.zip has 2 images"),
            (b"1 2 3\n4 5\n", "line 2: has 2 numbers, but line 1 has 3"),
            (b"1 2 3\n4 x 6\n", "line 2: contains something other than numbers; the line begins with '4 x 6'"),
            (b"1 2 3\n4 1e 6\n", "line 2: contains something other than numbers; the line begins with '4 1e 6'"),
            (b"1 2 3\n4 1e39 6\n", "line 2: contains a number that is too large"),
        ],
        "BoW_Test_int.dat": [(b"1 2\n", "feature BoW: the lines have 3 (Train) and 2 (Test) numbers")],
    },
    "nuswide tags, 1006": {
        "Train_Tags1k.dat": [(b"1 0 1\n", "Train_Tags1k.dat: has 1 images, but Groundtruth.zip has 3")],
        "Test_Tags1k.dat": [
            (b"0 1 0\n0 0\n", "Test_Tags1k.dat: line 2: has 2 values, but TagList1k.txt has 3 tags"),
            (b"0 1 0\n\n0 0 1\n", "line 2: has 0 values"),
            (b"0 10\n", "line 1: '10' must be 0 or 1"),
        ],
    },
    "nuswide tags, final": {
        "Final_Tag_List.txt": [
            (None, "NUS_WID_Tags.zip: contains no Final_Tag_List.txt"),
            (b"\n", "Final_Tag_List.txt: contains no tag"),
            (b"sky\n\nred", "Final_Tag_List.txt: line 2: the tag has an empty name"),
            (b"sky\nsky\n", "Final_Tag_List.txt: the tag 'sky' occurs 2 times; names must be unique"),
        ],
        "All_Tags.txt": [(b"1 sky\n\n2 red\n", "All_Tags.txt: line 2: '' is not a photo id")],
    },
    "open images": {
        "train/labels.csv": [
            (b"ImageID,Label\n", "labels.csv: line 1: is b'ImageID,Label\\n', but must be ImageID,Source"),
            (openimages(IDS + b",/m/a"), "a.tar.gz: top/train/labels.csv: line 3: has 3 columns"),
            (openimages(IDS + b",/m/a,0.5,1"), "line 3: has 5 columns"),
            (openimages(b"1,machine,/m/a,0.5"), "line 3: b'1' is not an image id of 16"),
            (openimages(IDS + b",,0.5"), "line 3: the label has an empty name"),
            (
                openimages(IDS + b",/m/\x9b,0.5".decode("latin-1").encode()),
                r"line 3: the label '/m/\x9b' contains '\x9b'",
            ),
            (openimages(IDS + b",/m/a,high"), "line 3: the confidence b'high' is not a number"),
            (openimages(IDS + b",/m/a,1.01"), "the confidence b'1.01' is not between 0 and 1"),
            (openimages(IDS + b",/m/a\r,0.5"), "line 3: contains a carriage return"),
            (openimages(IDS + b",/m/\xff,0.5"), "line 3: not UTF-8 text"),
        ],
        "validation/labels.csv": [
            (None, "a.tar.gz: contains no validation/labels.csv"),
            (OPENIMAGES["train/labels.csv"], "000026e7ee790996 is in more than one of the tables of train, validation"),
        ],
    },
    "mirflickr concepts": {
        "a/sky.txt": [(b"1", "the concept 'sky' occurs 2 times; names must be unique")],
        "sky.txt": [
            (b"1\n0\n", "sky.txt: line 2: '0' must be the number of an image, 1 to 25000"),
            (b"7\n1\n07\n", "sky.txt: line 3: image 7 is already in line 1"),
            (b"7\n249", "sky.txt: has no line break at its end, so a part of it may be missing"),
        ],
    },
    "voc2007": {
        "cat_trainval.txt": [
            (None, "ImageSets/Main/cat_trainval.txt is missing (number of missing lists: 1); use the official"),
            (b"000001  2\n", "cat_trainval.txt: line 1: '000001  2' must be the number of an image"),
            (b"000001 -1\n000001 -1\n", "cat_trainval.txt: line 2: image '000001' occurs twice"),
            (b"000001 -1\n000003 -1\n", "image '000002' is missing here, but is in train.txt or val.txt"),
            (VOC_VALUES + b"000099 1\n", "image '000099' is not in train.txt or val.txt"),
        ],
        "test.txt": [
            (b"\n", "test.txt: contains no image"),
            (b"000004\x07\n", "test.txt: line 1: '000004\\x07' is not the number of an image"),
        ],
        "val.txt": [
            (b"000001\n", "val.txt: line 1: image '000001' is also in the part 'train'"),
            (b"000002\n000002\n", "val.txt: line 2: image '000002' occurs twice"),
        ],
    },
    "mscoco": {
        "instances_val2014.json": [
            (b"{", "instances_val2014.json: not readable JSON (Expecting"),
            (b"[" * 10**5, "instances_val2014.json: not readable JSON ("),
            (b'{"a": 1, "a": 1}', "not readable JSON (an object has a duplicate key)"),
            (coco(b'"id": 7', b'"id": true'), "images: entry 1: the id True is not a whole"),
            (coco(b"[{", b'[{"id": 7}, {'), "images: entry 2: entry 1 has the same id, 7"),
            (coco(b'"image_id": 7', b'"image_id": 9'), "image_id 9 is not the id of any image"),
            (coco(b'"category_id": 1', b'"category_id": 2'), "category_id 2 is not the id of any category"),
            (coco(b"hot dog", b"p\\u00e9can"), "the category 'p\u00e9can' occurs 2 times; names must be unique"),
            (coco(b"hot dog", b"cat"), "the categories differ from those in instances_train2014.json"),
            (coco(b'[{"id": 7}', b'[{"id": 7}, {"id": 12}'), "image 12 is also in instances_train2014.json"),
        ],
    },
    "Visual Genome": {
        "objects.json": [
            (None, "contains no objects.json; use the official archive"),
            (b'{"image_id": 1}', "objects.json: must be a list of one or more images"),
            (b'[{"image_id": true}]', "entry 1: must be an object with a whole number 'image_id'"),
            (b'[{"image_id": 5, "objects": []}]', "image 5 is not in image_data.json"),
            (b'[{"image_id": 3}]', "image 3: has no list 'objects'"),
            (b'[{"image_id": 3, "objects": [[]]}]', "image 3: object 1 has no list 'synsets'"),
            (b'[{"image_id": 3, "objects": [{"synsets": [" "]}]}]', "object 1: ' ' is not printable"),
            (b'[{"image_id": 3, "objects": []}]', "objects.json: none of the objects has synsets"),
        ],
        "image_data.json": [(b'[{"image_id": 3}, {"image_id": 3}]', "entry 2: image 3 also has an earlier entry")],
    },
    "mulan, dense": {
        "a.arff": [
            (None, "a.arff: no such file; run the download stage"),
            (b"@data\n\xff", "a.arff: line 2: not UTF-8 text"),
            (b"@attribute x real\n", "a.arff: has no @data line; the file is incomplete or not ARFF"),
            (b"@data\n1", "a.arff: line 1: @data comes before the first @attribute"),
            (b"@relation x\nhello\n", "a.arff: line 2: 'hello' must begin with @relation, @attribute or @data"),
            (b"@attribute x {1,0}\n", "line 1: the type '{1,0}' of 'x' must be {0,1} or numeric"),
            (b"@attribute 'x real\n", 'line 1: "@attribute \'x real" must have the form `@attribute name type`'),
            (b"@attribute x real\n" * 2, "a.arff: line 2: the attribute 'x' occurs twice"),
            (MULAN_HEADER, "a.arff: contains no row after @data"),
            (MULAN_HEADER + b"1,0\n", "a.arff: line 8: has 2 values, but the header declares 4 attributes"),
            (MULAN_HEADER + b"0,?,0,0\n", "a.arff: line 8: '?' is not a number"),
            (MULAN_HEADER + b"0,1e39,0,0\n", "line 8: 1e39 is too large for a 32-bit number"),
            (MULAN_HEADER + b"0,0,0,0\n2,0,0,0\n", "a.arff: line 9: 'sky' is 2, but must be 0 or 1"),
            (MULAN_HEADER + b"{}\n", "line 8: the row is sparse, but the data set has `features: dense`"),
            (
                MULAN_HEADER + b"0,0,0,0\n",
                "has 1 rows, but `train_rows` is 1, so no row is left to test on; decrease `train_rows`",
            ),
        ],
        "l.xml": [
            (labels_xml(b"z"), "l.xml: the label 'z' is not an attribute of a.arff"),
            (labels_xml(b"x", b"sky", b"grey sky", b'blob "1"'), "l.xml: all attributes of a.arff are labels"),
            (labels_xml(), "l.xml: contains no label"),
            (labels_xml(b"sky", b"sky"), "l.xml: line 2: the label 'sky' occurs twice"),
            (b"<labels>\n<label/></labels>", "l.xml: line 2: the label has an empty name"),
            (b"<labels>\n<b/></labels>", "l.xml: line 2: has an element 'b'; use only `label` elements in one"),
            (b"<labels>\n<label", "l.xml: line 2: not readable XML (unclosed token)"),
            (b"<?xml version='1.0' encoding='utf-7'?><labels/>", "l.xml: line 1: not readable XML"),
            (b'<!DOCTYPE l [<!ENTITY y "sky">]>' + labels_xml(b"&y;"), "document type declaration (<!DOCTYPE); remove"),
        ],
    },
    "mulan, sparse": {
        "a.arff": [
            (MULAN_HEADER + b"1,0,0,0\n", "a.arff: line 8: the row is dense, but the data set has `features: sparse`"),
            (MULAN_HEADER + b"{0 1\n", "line 8: the sparse row does not end with a brace"),
            (MULAN_HEADER + b"{0}\n", "line 8: '0' must be an attribute number and a value"),
            (MULAN_HEADER + b"{0 1}, {5}\n", "'0 1}' must be an attribute number and a value"),
            (MULAN_HEADER + b"{4 1}\n", "attribute 4 does not exist"),
            (
                MULAN_HEADER + b"{1 1,0 1}\n",
                "attribute 0 follows 1; a row's numbers must be from 0 to 3 and in ascending order",
            ),
            (MULAN_HEADER + b"{1 -4e38}\n", "-4e38 is too large for a 32-bit number"),
            (MULAN_HEADER + b"{0 0.5}\n", "'sky' is 0.5, but must be 0 or 1"),
        ],
    },
    "XC repository": {
        "x.txt": [
            (None, "x.txt: no such file; run the download stage"),
            (b"", "x.txt: is empty; the first line must state the numbers of images, features and labels"),
            (b"4 5\n", "line 1: '4 5' must be the numbers of images, features and labels, each at least 1"),
            (b"1 5 0\n\n", "line 1: '1 5 0' must be the numbers of images"),
            (b"2 5 3\n0 1:1\n", "x.txt: has 1 images, but its first line states 2; it is incomplete"),
            (b"1 5 3\n0 1:1\n\n1 2:1\n", "line 4: is one image too many; the first line states 1 images"),
            (b"1 5 3\n0:1 1:1\n", "line 2: '0:1' must be label numbers, separated by commas; a line without"),
            (b"1 5 3\n0,3 1:1\n", "line 2: label 3 does not exist; numbers are from 0 to 2"),
            (b"2 5 3\n0 1:1\n1 2:1 5:1\n", "line 3: feature 5 does not exist; numbers are from 0 to 4"),
            (b"1 5 3\n0 1:1 2;1 3:1\n", "line 2: '2;1' must be a feature number, a colon and a value"),
            (b"1 5 3\n0 1:nan\n", "line 2: '1:nan' must be a feature number, a colon and a value"),
            (b"2 5 3\n0\n0 2:1 1:1 2:3\n", "line 3: feature 2 occurs twice"),
            (b"2 5 3\n0\n0 1:1e39\n", "line 3: the value of feature 1 is too large for a 32-bit number"),
        ],
        "tr.txt": [
            (None, "tr.txt: no such file; run the download stage"),
            (b"1 1\n2\n", "tr.txt: line 2: has 1 columns, but the option `split` is 2"),
            (b"1 5\n", "tr.txt: line 1: image 5 does not exist; x.txt has 4 images"),
            (b"1 0\n", "tr.txt: line 1: image 0 does not exist"),
            (b"1 x\n", "tr.txt: line 1: '1 x' must be image numbers, one per split"),
        ],
        "ts.txt": [(b"2 2\n1 3\n", "ts.txt: line 2: image 3 of split 2 is already in 'train'")],
    },
    "ILSVRC 2010": {
        "meta.mat": [
            (None, "contains no meta.mat; use the official archive"),
            (b"?", "meta.mat: not the expected MATLAB file: SciPy cannot read it"),
            (meta_mat([DOGS | {"ILSVRC2010_ID": 2.0}, CATS]), "synset 2: ILSVRC2010_ID: 2 occurs twice"),
            (
                meta_mat([DOGS | {"ILSVRC2010_ID": 7.0}, CATS]),
                "the ids of the synsets without children must be 1, 2, ... (number of",
            ),
        ],
        VALID_TRUTH: [
            (b"2\n3\n", f"{VALID_TRUTH}: line 2: '3' must be the id of a label, from 1 to 2"),
            (b"2\n", "has the image ILSVRC2010_val_00000002, but "),
            (b"2\n", f"{VALID_TRUTH} has only 1 lines"),
        ],
        TEST_TRUTH: [(b"1\n1\n", f"{TEST_TRUTH}: has 2 lines, one for each image, but no test.*.sbow.mat has image 2")],
        f"{DOG}.sbow.mat": [
            (None, f"{DOG}.sbow.mat is missing from words.tar"),
            (sbow_mat([(f"{DOG}_1", [5]), (f"{DOG}_1", [])]), f"the image {DOG}_1 occurs twice"),
            (sbow_mat([(f"{CAT}_1", [5])]), f"the image id '{CAT}_1' should be {DOG}_ followed by a number"),
            (sbow_mat([(f"{DOG}_1", [1000])]), f"{DOG}_1: the word 1000 is not a number from 0 to 999"),
        ],
    },
    "table, CSV": {
        "t.csv": [
            (b"img,label\n1,a\n", "t.csv: no column 'image'; the columns are 'img', 'label'"),
            (b"image,label,label\n1,a,b\n", "more than one column 'label'"),
            (b"image,label\n\n", "the table has no rows"),
            (b"image,label\n1,a\n ,b\n", "line 3: the image has an empty name"),
            (
                b'image,label\n1,a\n2,"b\nc"\n',
                r"line 4: the label 'b\nc' contains '\n'; remove control characters and line",
            ),
            (
                b"image,label\n\x1b]8;;1,a\n",
                r"line 2: the image '\x1b]8;;1' contains '\x1b'; remove control characters",
            ),
            (b"image,label,x\n1,a,b\n2,b\n", "line 3: 2 columns, but the first line has 3"),
            (b'image,label\n1,"a\n2,b\n', "unexpected end of data"),
            (b'image,label\n1,"a"b\n', "line 2: ',' expected after '\"'"),
            (b"image,label\n1,a\n2,Z\xfcrich\n", "line 3: not UTF-8 text"),
            (b"image,label,count\n1,a,1\n1,b,1.5\n", "line 3: the count is '1.5', but must be a whole number"),
            (b"image,label,count\n1,a,0\n", "line 2: the count is '0'"),
            (b"image,label,count\n1,a,2147483648\n", "line 2: the count is '2147483648'"),
            (b"image,label,count\n1,a,2147483647\n1,a,1\n", "add up to more than 2147483647"),
        ],
    },
    "table, wide CSV": {
        "t.csv": [(b"image,label\na,\n", "no image has a label")],
    },
    "table, JSON lines": {
        "t.jsonl": [
            (b'{"image": "1", "label": "a"}\n{"image"\n', "t.jsonl: line 2: not JSON"),
            (b"[1, 2]\n", "line 1: must be a JSON object"),
            (b'{"image": "1", "label": "a"}\n\n{"image": "1", "tag": "a"}\n', "line 3: no column 'label'"),
            (b'{"image": "1", "image": "2", "label": "a"}\n', "line 1: not JSON (duplicate key)"),
            (b'{"image": 1.0, "label": "a"}\n', "line 1: the image is 1.0, but must be text or a whole"),
            (b'{"image": null, "label": "a"}\n', "line 1: the image is missing"),
            (b'{"image": "\\ud800", "label": "a"}\n', "line 1: the image '\\ud800' is not Unicode text"),
            (b"[" * 100_000, "line 1: not JSON"),
        ],
    },
    "parents, CSV": {
        "p.csv": [
            (b"label,above\ncactus,plant\n", "p.csv: no column 'parent'; the columns are 'label', 'above'"),
            (b"label,parent\ncactus,plant\nlamp,\n", "p.csv: line 3: the parent has an empty name"),
            (b"label,parent\nlamp,lamp\n", "p.csv: line 2: 'lamp' is its own parent"),
            (b"label,parent\nlamp,thing,1\n", "p.csv: line 2: 3 columns, but the first line has 2"),
        ],
    },
    "parents, JSON": {
        "h.json": [
            (b"{", "not readable JSON"),
            (b"[]", "a class at the top must be an object with a LabelName"),
            (b'{"LabelName": "/m/0", "Subcategory": [3]}', "a class under /m/0 must be an object with a LabelName"),
            (b"[" * 100_000, "not readable JSON"),
        ],
    },
    "parents, WordNet": {
        wordnet.SENSES: [
            (NOUNS[wordnet.SENSES] + b"sky n1\n", "line 4: 'sky n1' must be a lemma that no earlier line has"),
            (b"sky\tn00000001\n", "line 1: is 'sky\\tn00000001', but must be the header"),
        ],
        wordnet.HYPERNYMS: [
            (NOUNS[wordnet.HYPERNYMS] + b"n00000008\tsky\tthing\t\n", "line 4: 'n00000008\\tsky\\tth"),
            (NOUNS[wordnet.HYPERNYMS] + b"n00000005|n00000006\tsky\t\t\n", "line 4: 'n00000005|n00000006\\tsky"),
        ],
        wordnet.EXCEPTIONS: [
            (b"geese\n", "line 1: 'geese' must be an irregular form"),
            (b"geese goo", f"{wordnet.EXCEPTIONS}: has no line break at its end, so a part of it may be missing"),
        ],
    },
    "words, GloVe": {
        "w.txt": [
            (None, "w.txt: no such file"),
            (b"", "w.txt: is empty"),
            (b"3 2\n", "line 1: the header states 3 words, but no word follows"),
            (b"3 2\nsky 1 2\ntree 1 2\n", "line 1: the header states 3 words, but there are 2"),
            (b"2 3\nsky 1 2\ntree 1 2\n", "line 1: the header states 3 dimensions, but most lines have 2"),
            (b"sky 1 2\ntree 1\nsea 1 2\n", "line 2: 'tree' has 1 numbers, but most lines have 2"),
            (b"sky 1 2\ntree  1 2\nsea 1 2\n", "line 2: 'tree ' has 3 numbers, but most lines have 2"),
            (b"sea 1 2\nsky 1 2tree 1 2\nsun 1 2\n", "line 2: 'sky 1 2tree' has 4 numbers, but most lines have 2"),
            (b"sea 1 2\rsky 1 2\r", "contains carriage returns inside lines"),
            (
                b"sea 1 2\nsky 1 2.",
                "line 2: has no line break, so a part of it may be missing; download the file again",
            ),
            (b"sea 1 2\nsky 0,5 2\n", "line 2: 'sky': '0,5' is not a finite number"),
            (b"sea 1 2\nsky 1_0 2\n", "line 2: 'sky': '1_0' is not a finite number"),
            (b"not a number\nsky 1 2\n", "line 1: 'not': 'a' is not a finite number"),  # of a word that is not needed
            (b"sea 1 2\nsky 1e39 2\n", "line 2: the vector of 'sky' has a number that is not finite as float32"),
            (b"sky\ntree\n", "most lines have 0 numbers"),
            (FASTTEXT_BIN + b" 1 2\n", "is a binary fastText model; use the text file"),
            (gzip.compress(GLOVE)[:-9], "not a readable file of words (Compressed file ended"),
        ],
    },
    "words, word2vec": {
        "w.bin": [
            (b"sky 1 2\n", "w.bin: does not begin with the numbers of words"),
            (word2vec(b"2 0"), "does not begin with the numbers of words"),
            (FASTTEXT_BIN, "is a binary fastText model"),
            (
                word2vec(b"2 2", SKY_1, TREE_3)[:-2],
                "word 2 of 2: 'tree': the file ends or is damaged here; download it again",
            ),
            (word2vec(b"3 2", SKY_1, TREE_3), "word 3 of 3: '': the file ends"),
            (word2vec(b"1 2", SKY_1, TREE_3), "more words than the 1 that its header states"),
            (word2vec(b"1 2", (b"sky", (1, np.nan))), "word 1: the vector of 'sky' has a number that is not"),
        ],
    },
    "npz (word vectors)": {
        "w.npz": [
            (words_npz(words=["sky"]), "w.npz: not an .npz file with the arrays words and vectors"),
            (words_npz(words=["sky"], vectors=[[1.0], [2.0]]), "words have shape (1,), vectors (2, 1)"),
            (
                words_npz(words=[1], vectors=[[1.0]]),
                "`words` must be text and `vectors` numbers, but their types are int64 and float64",
            ),
            (words_npz(words=["sky"], vectors=[[np.inf]]), "row 1: the vector of 'sky' has a number that is"),
        ],
    },
    "words, npz": {
        "words.npy": [
            (b"sky", "w.npz: not a readable .npz file (words.npy is not an array)"),
            (NO_CHARACTER, "w.npz: words: contains something that is not Unicode text"),
        ],
        "vectors.npy": [(b"?" * 200, "w.npz: not a readable .npz file (vectors.npy is not an array)")],
    },
    "features, npz": {
        f"{name}.npy": [(b"?" * 200, f"f.npz: not a readable .npz file ({name}.npy is not an array)")]
        for name in ("format", "shape", "data", "indices", "indptr")
    },
    "scores, npz": {
        "ids.npy": [
            (b"", "s.npz: not a readable .npz file (ids.npy is not an array)"),
            (npy(np.array([b"\xff", b"b"])), "s.npz: ids: contains something that is not Unicode text"),
        ],
        "scores.npy": [
            (npy(np.eye(2, 3)) + b"\0", "s.npz: not a readable .npz file (scores.npy is longer than its header states)")
        ],
    },
}
CASES = [
    pytest.param(reader, file, content, message, id=f"{reader}: {message}")
    for reader, files in FAULTS.items()
    for file, faults in files.items()
    for content, message in faults
]


@pytest.mark.parametrize(("reader", "file", "content", "message"), CASES)
def test_a_fault_is_one_clear_line(tmp_path, reader, file, content, message):
    assert message in refusal(reader, {file: content}, tmp_path / "raw")
