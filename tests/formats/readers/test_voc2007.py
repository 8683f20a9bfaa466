"""An option of PASCAL VOC 2007; tests/fuzz and test_faults.py have the rest."""

from tests.fuzz.targets import VOC, pack_voc
from vsebench.formats.readers.voc2007 import Options, read


def test_difficult_objects_are_labels_where_the_option_says_so(tmp_path):
    pack_voc(tmp_path, VOC | {"chair_trainval.txt": b"000001  0\n000002  1\n000003 -1\n"})
    pairs = {difficult: read(tmp_path, Options(difficult=difficult)).pairs.rows() for difficult in (False, True)}
    assert [pair for pair in pairs[False] if pair[1] == 8] == [(1, 8, 1)]
    assert [pair for pair in pairs[True] if pair[1] == 8] == [(0, 8, 1), (1, 8, 1)]
