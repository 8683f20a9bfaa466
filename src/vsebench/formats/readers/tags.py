"""Turn user tags into labels, by the same rules for every Flickr data set.

A tag is normalised roughly as in Flickr's own search. It is converted to Unicode's compatibility form (NFKC). Its case
is folded, so that "STRASSE" equals "straße". Only letters, combining marks and digits are kept. Thus "New York",
"new-york" and "newyork" are the same label. Accents are kept. Tags that become empty, machine tags ("geo:lat=52.1") and
tags on the stop lists are removed. A tag counts once per image.

With the option `as_written`, tags become labels without being normalised, and machine tags are kept. Only empty tags,
tags on the stop lists and tags with control characters are removed.
"""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict
from vsebench.formats.annotations import Dropped, RawAnnotations, count_pairs, fault_of, image_ids, sort_names

MACHINE_TAG = re.compile(r"[^\W\d]\w*:\w+=")

# Tags that do not describe the content of a picture, but how it was taken or edited, or where it was shown. They are
# the frequent tags of this kind in MIRFLICKR-25k, and similar tags, in normalised form; a star matches any ending.
STOP_LISTS: dict[str, str] = {
    "cameras": """
        canon* nikon* nikkor* olympus* zuiko* pentax* takumar* sony* minolta* konica* panasonic* lumix* leica*
        summicron* fujifilm* fuji finepix* kodak* easyshare* hasselblad* mamiya* rollei* yashica* zeiss* carlzeiss*
        sigma tamron* tokina* powershot* coolpix* cybershot* casio* exilim* ricoh* grdigital* nokia* sonyericsson*
        iphone* cameraphone* phonecam* holga* lomo lomography lomolca lca lensbaby* polaroid* ixus* eos* rebel rebelxt
        rebelxti rebelxsi digitalrebel* xt xti xsi zd dslr* slr digitalcamera d2h d2x d2xs d3 d40 d40x d50 d60 d70
        d70s d80 d90 d100 d200 d300 d700 5d 5dmarkii 10d 20d 30d 40d 50d 300d 350d 400d 450d 500d 1000d k10d k100d
        k20d k200d e300 e330 e410 e420 e500 e510 e520 a100 a200 a700 sigma1020 sigma1020mm f14 f18 f28 18mm 24mm 28mm
        35mm 50mm 85mm 100mm 105mm 1020mm 1022mm 1855mm 18200mm 50mmf14 50mmf18
    """,
    "software": """
        photoshop* adobe* lightroom* photomatix* picnik* gimp hugin paintshop* cs2 cs3 cs4 raw jpeg jpg postprocessing
    """,
    "flickr": """
        animalkingdomelite moo flickr* dflickr 24hoursofflickr utata* geotagged geotag geotagging explore explored
        explorer interestingness* interesting i500 topf* topv1* topv2* topv3* abigfave 10faves 15faves 25faves 10fav
        15fav 25fav 100v10f 50v10f supershot ultimateshot outstandingshot* anawesomeshot bravo soe wow wowiekazowie
        searchthebest firstquality impressedbeauty superbmasterpiece* diamondclassphotographer goldenphotographer*
        theperfectphotographer platinumphoto* aplusphoto superaplus* goldstaraward* blueribbonwinner*
        challengeyouwinner* excellentphotographer* superhearts naturesfinest avianexcellence specanimal*
        theunforgettablepictures* catchycolors* magicdonkey* mywinners* colorphotoaward* artlibre ltytr1 ysplix*
        instantfave* ilovenature outdoorphotography 365 365days 365day 365project project365 366 366days delete
        delete1 delete2 delete3 delete4 delete5 deleteme* save save1 save2 save3 save4 save5 saveme* gothamist dcist
        chicagoist photo photos foto fotos fotografia photograph photography photographer picture pictures
    """,
}

StopList = Literal["cameras", "software", "flickr"]


class TagOptions(Strict):
    """Options: the tags that do not become labels."""

    stop_lists: list[StopList] = Field(default=["cameras", "software", "flickr"])  # built-in lists of tags to leave out
    stop_tags: list[str] = Field(default=[])  # more tags to leave out, in any spelling; a final star matches any ending
    as_written: bool = False  # do not normalise tags, and keep machine tags


def normalise(tag: str) -> str:
    """Return the normalised form of a tag.

    The tag is converted to Unicode's form NFKC, its case is folded, and all characters except letters, combining marks
    and digits are removed. The result can be empty.
    """
    before = None
    while tag != before:  # after a removal, neighbours can combine into one character, so repeat until nothing changes
        before = tag
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", tag).casefold())
        tag = "".join(letter for letter in folded if unicodedata.category(letter)[0] in "LMN")
    return tag


class StopTags:
    """The tags that the options leave out."""

    def __init__(self, options: TagOptions) -> None:
        entries = [entry for name in options.stop_lists for entry in STOP_LISTS[name].split()] + options.stop_tags
        self.whole = {normalise(entry) for entry in entries if not entry.endswith("*")}
        self.beginnings = tuple(normalise(entry) for entry in entries if entry.endswith("*"))

    def __contains__(self, tag: str) -> bool:
        return tag in self.whole or tag.startswith(self.beginnings)


def annotate(images: Sequence[str], tags: Iterable[Sequence[str]], options: TagOptions, where: str) -> RawAnnotations:
    """Turn the tags that users wrote for images into labels.

    `images` contains the distinct ids of the images; `tags` contains the tags of each image, in the same order.

    The result has labels in alphabetical order, and all counts are 1. Images without a label are kept. The result's
    `dropped` counts the tags that were left out. Raises a `UserError` that begins with `where`, the path of the file,
    if no tag becomes a label.
    """
    stop = StopTags(options)
    numbers: dict[str, int] = {}  # label -> its number
    known: dict[str, int | str] = {}  # tag as written -> its label's number, or why the tag is left out
    columns = array("i"), array("i")
    gone: Counter[str] = Counter()
    for image, written in enumerate(tags):
        for tag in written:
            fate = known.get(tag)
            if fate is None:
                fate = known[tag] = _fate(tag, stop, numbers, options.as_written)
            if isinstance(fate, str):
                gone[fate] += 1
            else:
                columns[0].append(image)
                columns[1].append(fate)
    if not numbers:
        raise UserError(f"{where}: there is no tag, or all tags are left out, for example by stop lists")
    names, ranks = sort_names(numbers)
    pairs = count_pairs(np.array(columns[0]), ranks[np.array(columns[1])], len(names))
    repeated = int((pairs["count"] - 1).sum())
    dropped = [Dropped("tags", gone[why], why) for why in sorted(gone)]
    dropped += [Dropped("tags", repeated, "repeated for an image, in the same or another spelling")] if repeated else []
    return RawAnnotations(image_ids(images), names, pairs.with_columns(count=pl.lit(1, pl.Int32)), dropped)


def _fate(tag: str, stop: StopTags, numbers: dict[str, int], as_written: bool) -> int | str:
    """Return the number of the label that a tag becomes, or the reason why the tag is left out."""
    if MACHINE_TAG.match(tag) and not as_written:
        return "machine tags (a:b=c)"
    name = normalise(tag)
    if not name and not as_written:
        return "without letters and digits"
    if as_written and fault_of(tag):
        return "empty, or with a control character"
    if name in stop:
        return "on a stop list (stop_lists, stop_tags)"
    return numbers.setdefault(tag if as_written else name, len(numbers))
