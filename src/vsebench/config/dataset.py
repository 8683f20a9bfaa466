"""The file of a data set: its annotations and features, and the sources of siblings and word vectors."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import Strict, check

NormalisationStep = Literal["l2", "idf", "standard", "root"]  # the steps in `vsebench.data.features`
TransformName = Literal["torchvision", "caffe_vgg", "inception"]  # the transforms in `vsebench.formats.images.pixels`
Resize = Annotated[int, Field(ge=1)] | Literal["squash"]  # the shorter side in pixels, or scale the whole image
Suffixes = Literal["keep", "drop"]  # whether image ids include the suffixes of the file names
Family = Literal["iapr", "nuswide", "openimages", "flickr", "corel5k", "mirflickr", "imagenet", "tree", "other"]


class Vocabulary(Strict):
    """Filters of a data set's images and labels; docs/data.md describes their order."""

    # number of images to keep, drawn uniformly from the images that have a label
    sample_images: int | None = Field(default=None, ge=1)
    min_images_per_label: int | None = Field(default=None, ge=1)  # drop labels with fewer images
    top_labels: int | None = Field(default=None, ge=1)  # keep this number of labels, the ones with the most images
    min_labels_per_image: int | None = Field(default=None, ge=1)  # drop images with fewer labels
    only_parts: bool | None = None  # true: drop images that are in no part of the official partition
    seed: int = Field(default=0, ge=0)  # seed of the sample of images


class SourceFile(Strict):
    """A file to download."""

    name: str = Field(pattern=r"^[\w.+-]+$")  # the name that the file is stored under
    sources: list[str]  # addresses, tried in this order; if empty, the file must already exist or be in the mirror
    md5: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")  # checksum of the file
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")  # checksum of the file
    size: int | None = None  # size of the file in bytes


class Expected(Strict):
    """Counts of images, labels and pairs that the processed data set should have; a run reports differing counts."""

    images: int | None = None  # number of images after the filters
    labels: int | None = None  # number of labels with at least one image
    pairs: int | None = None  # number of distinct (image, label) pairs
    occurrences: int | None = None  # sum of the pairs' counts


class Network(Strict):
    """A network in an ONNX file, and the images whose features the stage `features` computes with it."""

    model: str = Field(pattern=r"\.onnx$")  # the name of one of the data set's `files`, or a path
    # a folder, a tar archive, or a table of ids and files: the name of one of the data set's `files`, or a path
    images: str = Field(min_length=1)
    output: str = Field(min_length=1)  # the name of one of the network's outputs
    transform: TransformName  # how pixels become numbers; see [features.md](features.md)
    resize: Resize = 256  # the shorter side in pixels, before the centre is cropped; `squash`: scale the whole image
    suffixes: Suffixes = "keep"  # whether image ids include the suffixes of the file names


class Pictures(Strict):
    """The key `pictures`, which says where the pictures of a data set are, so that the report can show them."""

    images: str = Field(min_length=1)  # a folder, a tar archive, or a table of ids and files
    suffixes: Suffixes = "keep"  # whether image ids include the suffixes of the file names

    @property
    def path(self) -> Path:
        """The folder or file."""
        return Path(self.images)


class FeaturesFile(Strict):
    """Image features stored apart from the annotations: a file, or a network that computes them from the user's images.

    `formats/features_file.py` describes the formats of the file.
    """

    # `.npy`, `.npz` (CSR) or `.parquet`: the name of one of the data set's `files`, or a path
    file: str | None = Field(default=None, pattern=r"\.(npy|npz|parquet)$")
    network: Network | None = None  # instead of `file`: a network and the images to compute features of
    ids: str | None = None  # a text file with the image id of each row; none: the rows follow the order of the images
    image: str = "image"  # the column of image ids in a .parquet file

    @model_validator(mode="after")
    def _fitting(self) -> "FeaturesFile":
        if (self.file is None) == (self.network is None):
            raise PydanticCustomError("file", "features: give either a `file` or a `network`, not both or neither")
        if self.network is not None and self.model_fields_set != {"network"}:
            raise PydanticCustomError("network", "features: `ids` and `image` describe a `file`; remove them")
        if self.ids is not None and self.file is not None and self.file.endswith(".parquet"):
            raise PydanticCustomError("ids", "ids: a .parquet file has its ids in a column; name it in `image` instead")
        return self


class Partition(Strict):
    """Text files with one image id per line that divide the images, in place of the data set's own partition."""

    train: str | None = None  # file of training images; none: all images that are not in another file
    valid: str | None = None  # file of validation images; none: they are drawn from the training images
    test: str  # file of test images

    @property
    def files(self) -> dict[str, str]:
        """The file of each part."""
        return self.model_dump(exclude_none=True)


class Described(Strict):
    """The description of a source of data, for tables and the report."""

    title: str  # name in tables and the report
    licence: str  # the licence, for the report
    citation: str  # the publication to cite, for the report
    homepage: str | None = None  # the address of the source, for the report


class Source(Strict):
    """A source of data: the files, and the adapter that reads these files."""

    adapter: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # the module of `src/vsebench/formats` that reads the files
    options: dict[str, Any] = {}  # options of the adapter
    files: list[SourceFile] = []  # the files to download


class SiblingsConfig(Source, Described):
    """A source of labels' parents (`config/siblings/<name>.yaml`); labels with a common parent are siblings."""

    def definition(self, *left_out: str) -> dict[str, Any]:
        """Return the keys of `Source` that the file sets, without the keys in `left_out`."""
        return self.model_dump(include=set(Source.model_fields) - set(left_out), exclude_defaults=True)


class WordVectorsDefinition(Source):
    """The keys of a source of word vectors that determine the vectors of labels."""

    # label -> the words to look up instead, for labels that are not words: `tvmonitor: tv monitor`
    aliases: dict[str, str] = {}
    exceptions: str | None = None  # the name, among `files`, of WordNet's list of irregular plurals
    without: str | None = None  # the name, among `files`, of a list of words to ignore, one per line
    missing: Literal["error", "leave_out"] = "error"  # whether to stop if a label has no vector, or leave it out


class WordVectorsConfig(WordVectorsDefinition, Described):
    """A source of word vectors (`config/word_vectors/<name>.yaml`)."""

    @model_validator(mode="after")
    def _fitting(self) -> "WordVectorsConfig":
        for key, name in (("exceptions", self.exceptions), ("without", self.without)):
            if name is not None and name not in {file.name for file in self.files}:
                raise PydanticCustomError(key, f"{key}: the file is not among `files`")
        return self

    def definition(self) -> dict[str, Any]:
        """Return the keys of `WordVectorsDefinition` that are set, without `files`."""
        return self.model_dump(include=set(WordVectorsDefinition.model_fields) - {"files"}, exclude_defaults=True)

    def download_definition(self) -> dict[str, Any]:
        """Return the keys that determine the download."""
        return self.model_dump(include={"adapter", "files"}, exclude_defaults=True)

    @property
    def own_file(self) -> str | None:
        """The user's own file of word vectors; None if it is downloaded or the vectors are simulated."""
        name = self.options.get("file")
        return None if name is None or name in {file.name for file in self.files} else str(name)


class DatasetDefinition(Source):
    """The keys of a data set's file that determine its annotations and features."""

    features: FeaturesFile | None = None  # image features that are stored apart from the annotations
    partition: Partition | None = None  # files with the ids of the images to train, validate and test on
    vocabulary: Vocabulary = Vocabulary()  # filters of images and labels; see [data.md](data.md#filters)
    expected: Expected = Expected()  # counts that the processed data set should have; a difference is reported

    @property
    def features_name(self) -> str | None:
        """The name of the processed data set's file of image features, or None if it has no features.

        An adapter that reads features has an option `features`; the features are dense unless the option is "sparse".
        """
        if self.features is not None:
            return "features.npz" if (self.features.file or "").endswith(".npz") else "features.npy"
        kind = self.options.get("features")
        return ("features.npz" if kind == "sparse" else "features.npy") if kind else None

    @property
    def own_files(self) -> dict[str, str]:
        """The paths of the user's own files by key; they are read where they are instead of downloaded."""
        named = {"options.pairs": self.options.get("pairs")} if self.adapter == "table" else {}
        if self.features is not None:
            named |= {"features.file": self.features.file, "features.ids": self.features.ids}
        if self.partition is not None:
            named |= {f"partition.{part}": name for part, name in self.partition.files.items()}
        return {key: name for key, name in named.items() if name is not None and not self.downloads(name)}

    @property
    def network(self) -> Network | None:
        """The network that computes the features, if there is one."""
        return self.features.network if self.features is not None else None

    def downloads(self, name: str) -> bool:
        """Return whether a file is downloaded, rather than the user's own."""
        return name in {file.name for file in self.files}


class DatasetConfig(DatasetDefinition, Described):
    """A data set (`config/datasets/<name>.yaml`)."""

    family: Family  # selects the settings and claims that the papers state for one data set only
    # normalisation steps for image features, in order, used by methods whose settings name none: `root` (divide a row
    # by its sum, take square roots), `idf`, `standard` (subtract the mean, divide by the deviation), `l2` (unit length)
    normalise: list[NormalisationStep] = []
    # source of the labels' parents, for metrics that use siblings: a file of config/siblings, or your own table with
    # the columns `label` and `parent`
    siblings: str | None = None
    word_vectors: str | None = None  # source of the labels' word vectors: a file in config/word_vectors
    pictures: Pictures | None = None  # pictures for the report; none: the images of the `network` in `features`

    def definition(self, *left_out: str) -> dict[str, Any]:
        """Return the keys of `DatasetDefinition` that are set, except those in `left_out`."""
        return self.model_dump(include=set(DatasetDefinition.model_fields) - set(left_out), exclude_defaults=True)

    @property
    def shown_pictures(self) -> Pictures | None:
        """The location of the user's pictures of the images, if there are any."""
        if self.pictures is not None or self.network is None or self.downloads(self.network.images):
            return self.pictures
        return Pictures(images=self.network.images, suffixes=self.network.suffixes)

    def with_features_in(self, folder: str) -> "DatasetConfig":
        """Return the data set with features from the files that its network wrote to a folder."""
        written = FeaturesFile(file=f"{folder}/features.npy", ids=f"{folder}/ids.txt")
        return self.model_copy(update={"features": written})

    def about(self) -> dict[str, Any]:
        """Return the keys that tables and the report show."""
        return self.model_dump(include={"family", *Described.model_fields})

    def replaced(self, options: dict[str, Any], vocabulary: dict[str, Any]) -> "DatasetConfig":
        """Return the data set with some of its options and filters replaced by a run's.

        If they change the filters or the size (`scale`, or `images` and `labels`), no counts are expected.
        """
        filters = Vocabulary(**self.vocabulary.model_dump(exclude_unset=True) | vocabulary)
        merged = self.model_copy(update={"options": self.options | options, "vocabulary": filters})
        sizes = ("scale", "images", "labels")
        resized = any(merged.options.get(key, 1) != self.options.get(key, 1) for key in sizes)
        if merged.vocabulary != self.vocabulary or resized:
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
