"""A data set: its annotations, features, and where its labels' siblings and word vectors are from."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict, check

NormalisationStep = Literal["l2", "idf", "standard", "root"]  # those of `vsebench.data.features`
TransformName = Literal["torchvision", "caffe_vgg", "inception"]  # those of `vsebench.formats.images.pixels`
Resize = Annotated[int, Field(ge=1)] | Literal["squash"]  # pixels of the shorter side, or the whole image
Suffixes = Literal["keep", "drop"]  # of files in the ids of images
Family = Literal["iapr", "nuswide", "openimages", "flickr", "corel5k", "mirflickr", "imagenet", "tree", "other"]


class Vocabulary(Strict):
    """Which images and labels of a data set are kept; `formats/vocabulary.py` describes the order of the filters."""

    sample_images: int | None = Field(default=None, ge=1)  # keep so many of the images with a label, drawn uniformly
    min_images_per_label: int | None = Field(default=None, ge=1)  # drop labels of fewer images
    top_labels: int | None = Field(default=None, ge=1)  # keep so many labels, those of most images
    min_labels_per_image: int | None = Field(default=None, ge=1)  # drop images with fewer labels
    only_parts: bool | None = None  # drop images that are in no part of the official partition
    seed: int = Field(default=0, ge=0)  # of the sample


class SourceFile(Strict):
    """A file to download."""

    name: str = Field(pattern=r"^[\w.+-]+$")  # under which it is kept
    sources: list[str]  # addresses, tried in this order; without one the file must be in place or in the mirror
    md5: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")  # checksum
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")  # checksum
    size: int | None = None  # bytes


class Expected(Strict):
    """Counts that the processed data set should have."""

    images: int | None = None  # after the filters
    labels: int | None = None  # labels that occur on at least one image
    pairs: int | None = None  # distinct (image, label) pairs
    occurrences: int | None = None  # pairs with their counts


class Network(Strict):
    """A network in an ONNX file, and the images that it describes; the stage `features` does so."""

    model: str = Field(pattern=r"\.onnx$")  # a name under the data set's `files`, or a path, as `images`
    images: str = Field(min_length=1)  # a folder, a tar archive, or a table of ids and files
    output: str = Field(min_length=1)  # the name of one of the network's outputs
    transform: TransformName  # how pixels become numbers; see [features.md](features.md)
    resize: Resize = 256  # the shorter side in pixels, before the centre is cut out; `squash`: the whole image
    suffixes: Suffixes = "keep"  # of files in the ids of images


class Pictures(Strict):
    """Where the pictures of a data set's images are, for the report."""

    images: str = Field(min_length=1)  # a folder, a tar archive, or a table of ids and files
    suffixes: Suffixes = "keep"  # of files in the ids of images

    @property
    def path(self) -> Path:
        """The folder or file."""
        return Path(self.images)


class FeaturesFile(Strict):
    """Image features apart from the annotations: a file, or a network that makes one of the user's images.

    `formats/features_file.py` describes the formats of the file.
    """

    # `.npy`, `.npz` (CSR) or `.parquet`: a name under the data set's `files`, or a path
    file: str | None = Field(default=None, pattern=r"\.(npy|npz|parquet)$")
    network: Network | None = None  # in place of `file`: a network and images that it describes
    ids: str | None = None  # a text file with the image id of each row; none: rows are in the order of the images
    image: str = "image"  # the column of image ids in a .parquet file

    @model_validator(mode="after")
    def _fitting(self) -> "FeaturesFile":
        if (self.file is None) == (self.network is None):
            raise PydanticCustomError("file", "features: name a `file` or a `network`, one of the two")
        if self.network is not None and self.model_fields_set != {"network"}:
            raise PydanticCustomError("network", "features: `ids` and `image` belong to a `file`, not to a `network`")
        if self.ids is not None and self.file is not None and self.file.endswith(".parquet"):
            raise PydanticCustomError("ids", "ids: a .parquet file has its image ids in a column (`image`)")
        return self


class Source(Strict):
    """Files and what reads them."""

    adapter: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # the module of `src/vsebench/formats` that reads it
    options: dict[str, Any] = {}  # the adapter's own
    files: list[SourceFile] = []  # what to download


class SiblingsConfig(Source):
    """Where parents of labels are from (`config/siblings/<name>.yaml`); labels with a common parent are siblings."""

    title: str  # for the report
    licence: str  # for the report
    citation: str  # for the report
    homepage: str | None = None  # for the report

    def definition(self, *left_out: str) -> dict[str, Any]:
        """Return the keys of `Source` that are set, without those `left_out`."""
        return self.model_dump(include=set(Source.model_fields) - set(left_out), exclude_defaults=True)


class WordsDefinition(Source):
    """The keys of a source of words that determine the vectors of labels."""

    aliases: dict[
        str, str
    ] = {}  # label -> words in its place, where the label itself is no word: `tvmonitor: tv monitor`
    exceptions: str | None = None  # WordNet's irregular plurals, under `files`
    without: str | None = None  # a list under `files` of words that are not used, one per line
    missing: Literal["error", "leave_out"] = "error"  # what to do if a label has no vector; `leave_out`: it gets none


class WordsConfig(WordsDefinition):
    """Where vectors of words are from (`config/words/<name>.yaml`)."""

    title: str  # for the report
    licence: str  # for the report
    citation: str  # for the report
    homepage: str | None = None  # for the report

    @model_validator(mode="after")
    def _fitting(self) -> "WordsConfig":
        for key, name in (("exceptions", self.exceptions), ("without", self.without)):
            if name is not None and name not in {file.name for file in self.files}:
                raise PydanticCustomError(key, f"{key}: the file is not among `files`")
        return self

    def definition(self) -> dict[str, Any]:
        """Return the keys of `WordsDefinition` that are set, without `files`."""
        return self.model_dump(include=set(WordsDefinition.model_fields) - {"files"}, exclude_defaults=True)

    def download_definition(self) -> dict[str, Any]:
        """Return the keys that the download depends on."""
        return self.model_dump(include={"adapter", "files"}, exclude_defaults=True)

    @property
    def own_file(self) -> str | None:
        """The user's own file of words, which is read in place; None if it is downloaded, or if words are drawn."""
        name = self.options.get("file")
        return None if name is None or name in {file.name for file in self.files} else str(name)


class DatasetDefinition(Source):
    """The keys of a data set's file that determine its annotations and features."""

    features: FeaturesFile | None = None  # image features apart from the annotations
    vocabulary: Vocabulary = Vocabulary()  # which images and labels are kept, in the order of `formats/vocabulary.py`
    expected: Expected = Expected()  # counts to compare with; a difference is reported

    @property
    def features_name(self) -> str | None:
        """The name of the processed data set's file of image features, or None if it has no features.

        An adapter that reads features has an option `features`; these are dense unless it is "sparse".
        """
        if self.features is not None:
            return "features.npz" if (self.features.file or "").endswith(".npz") else "features.npy"
        kind = self.options.get("features")
        return ("features.npz" if kind == "sparse" else "features.npy") if kind else None

    @property
    def own_files(self) -> dict[str, str]:
        """Key -> path of the user's own files, which are read in place and not downloaded."""
        named = {"options.pairs": self.options.get("pairs")} if self.adapter == "table" else {}
        if self.features is not None:
            named |= {"features.file": self.features.file, "features.ids": self.features.ids}
        return {key: name for key, name in named.items() if name is not None and not self.downloads(name)}

    @property
    def network(self) -> Network | None:
        """The network that makes the features, if one does."""
        return self.features.network if self.features is not None else None

    def downloads(self, name: str) -> bool:
        """Return whether a file is one of those that are downloaded, and not the user's own."""
        return name in {file.name for file in self.files}


class DatasetConfig(DatasetDefinition):
    """A data set (`config/datasets/<name>.yaml`)."""

    title: str  # for tables and the report
    family: Family  # which of a paper's settings for single data sets apply, and which claims
    licence: str  # for the report
    citation: str  # for the report
    homepage: str | None = None  # for the report
    # steps for image features, in order, for methods whose settings name none: `root` (a row over its sum, then the
    # square root), `idf`, `standard` (minus the mean, over the deviation), `l2` (rows of unit length)
    normalise: list[NormalisationStep] = []
    # where the parents of labels are from, for metrics of siblings: a file of config/siblings, or a table of your own
    # with the columns `label` and `parent`
    siblings: str | None = None
    words: str | None = None  # a file of config/words: the vectors of the labels' names
    pictures: Pictures | None = None  # for the report; without it those that the network of `features` describes

    def definition(self, *left_out: str) -> dict[str, Any]:
        """Return the keys of `DatasetDefinition` that are set, without those `left_out`."""
        return self.model_dump(include=set(DatasetDefinition.model_fields) - set(left_out), exclude_defaults=True)

    @property
    def shown_pictures(self) -> Pictures | None:
        """Where the user's pictures of the images are, if anywhere."""
        if self.pictures is not None or self.network is None or self.downloads(self.network.images):
            return self.pictures
        return Pictures(images=self.network.images, suffixes=self.network.suffixes)

    def with_features_in(self, folder: str) -> "DatasetConfig":
        """Return the data set with features from the files that its network made in a folder."""
        made = FeaturesFile(file=f"{folder}/features.npy", ids=f"{folder}/ids.txt")
        return self.model_copy(update={"features": made})

    def about(self) -> dict[str, Any]:
        """Return the keys that tables and the report show."""
        return self.model_dump(include={"title", "family", "licence", "citation", "homepage"})

    def replaced(self, options: dict[str, Any], vocabulary: dict[str, Any]) -> "DatasetConfig":
        """Return the data set with the options and filters that a run gives it, key by key.

        The expected counts are those of the data set's own filters and size (`scale`, or `images` and `labels`).
        """
        merged = self.model_copy(
            update={
                "options": self.options | options,
                "vocabulary": Vocabulary(**self.vocabulary.model_dump(exclude_unset=True) | vocabulary),
            }
        )
        sizes = ("scale", "images", "labels")
        other_size = any(merged.options.get(key, 1) != self.options.get(key, 1) for key in sizes)
        if merged.vocabulary != self.vocabulary or other_size:
            merged = merged.model_copy(update={"expected": Expected()})
        return merged


def read_definition(text: str, name: str) -> DatasetDefinition:
    """Read and check the definition of the data set `name`, a JSON object from a stage's command line."""
    return check(DatasetDefinition, parse_definition(text), f"{name}: --definition")


def parse_definition(text: str) -> Any:
    """Parse the JSON of the option --definition."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"--definition: not JSON ({error}): {text}") from None
