"""The types that check the configuration files of data sets, and of sources of siblings and of word vectors."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Discriminator, Field, Tag, field_validator, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError
from vsebench.core.yaml_files import SECRET, Strict, check

NormalisationStep = Literal["l2", "idf", "standard", "root"]  # the steps in `vsebench.data.features`
TransformName = Literal[
    "torchvision", "caffe_vgg", "inception", "clip"
]  # the transforms in `vsebench.formats.images.pixels`
Resize = Annotated[int, Field(ge=1)] | Literal["squash"]  # the shorter side in pixels; "squash": scale the whole image
Suffixes = Literal["keep", "drop"]  # whether ids of images keep the suffixes of their files
SHA256 = r"^[0-9a-f]{64}$"
SET_NAME = "[A-Za-z][A-Za-z0-9_]*"  # the form of a set's name, so that the workflow can tell it from other names
SetName = Annotated[str, Field(pattern=f"^{SET_NAME}$")]  # the name of one of several sets of features


def _kind(value: Any) -> str:
    """Return a tag for the form of normalisation steps.

    The tag is "<by set>" for a mapping from sets of features to lists, and "<steps>" for one list for all sets.
    """
    return "<by set>" if isinstance(value, Mapping) else "<steps>"


_Steps = Annotated[tuple[NormalisationStep, ...], Field(strict=False)]  # a list in YAML and JSON
StepsOfSets: TypeAlias = Annotated[
    Annotated[_Steps, Tag("<steps>")] | Annotated[dict[SetName, _Steps], Tag("<by set>")],
    Discriminator(_kind),
]
Family = Literal["iapr", "nuswide", "openimages", "flickr", "corel5k", "mirflickr", "imagenet", "tree", "other"]


class Vocabulary(Strict):
    """Filters of a data set's images and labels; docs/data.md describes their order."""

    only_labels: list[str] | None = Field(default=None, min_length=1)  # keep only these labels; this filter comes first
    # number of images to keep, drawn uniformly from those with at least `min_labels_per_image` labels (at least one if
    # `min_labels_per_image` is not set)
    sample_images: int | None = Field(default=None, ge=1)
    min_images_per_label: int | None = Field(default=None, ge=1)  # drop labels with fewer images than this
    top_labels: int | None = Field(default=None, ge=1)  # keep this number of labels, the ones with the most images
    min_labels_per_image: int | None = Field(default=None, ge=1)  # drop images with fewer labels than this
    only_parts: bool | None = None  # true: drop images that are in no part of the official partition
    seed: int = Field(default=0, ge=0)  # seed of the sample of images


class SourceFile(Strict):
    """A file to download, with its addresses, and its size and checksums if they are known."""

    name: str = Field(pattern=r"^\.*[\w+-][\w.+-]*$")  # the name that the file is stored under; not "." or ".."
    sources: list[str]  # addresses, tried in this order; if empty, the file must already exist or be in the mirror
    md5: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")  # checksum of the file
    sha256: str | None = Field(default=None, pattern=SHA256)  # checksum of the file
    size: int | None = None  # size of the file in bytes

    @field_validator("sources")
    @classmethod
    def _without_password(cls, sources: list[str]) -> list[str]:
        """Refuse addresses with a user name or password, because logs, messages and jobs' command lines show them."""
        if any("@" in urlsplit(address).netloc for address in sources):
            raise PydanticCustomError(
                SECRET, "an address contains a user name; move user name and password to the file ~/.netrc"
            )
        return sources

    @property
    def has_checksum(self) -> bool:
        """Whether the source of the file states a checksum."""
        return bool(self.md5 or self.sha256)


class FirstDownloads(Strict):
    """Checksums of files whose sources state no checksum, computed when the files were first downloaded."""

    sha256: dict[str, Annotated[str, Field(pattern=SHA256)]] = {}  # name of a file -> its sha256


class Expected(Strict):
    """Counts of images, labels and pairs that the processed data set must have."""

    images: int | None = None  # number of images after the filters
    labels: int | None = None  # number of labels with at least one image
    pairs: int | None = None  # number of distinct (image, label) pairs
    occurrences: int | None = None  # number of occurrences of labels: the sum of the counts of all pairs


class Network(Strict):
    """A network in an ONNX file, and the images whose features the stage `features` computes with it."""

    model: str = Field(pattern=r"\.onnx$")  # the name of one of the data set's `files`, or a path
    # the images, in a folder, a tar archive, or a table of ids and files: the name of one of the data set's `files`, or
    # a path
    images: str = Field(min_length=1)
    output: str = Field(min_length=1)  # the name of one of the network's outputs
    transform: TransformName  # how pixels become numbers; see [features.md](features.md)
    # the length of the shorter side in pixels, before the centre is cropped; `squash`: the whole image is scaled to the
    # size of the network's input, without cropping
    resize: Resize = 256
    suffixes: Suffixes = "keep"  # whether image ids include the suffixes of the file names


class Pictures(Strict):
    """The key `pictures`, which says where the pictures of a data set are, so that the report can show them."""

    images: str = Field(min_length=1)  # a folder, a tar archive, or a table of ids and files
    suffixes: Suffixes = "keep"  # whether image ids include the suffixes of the file names

    @property
    def path(self) -> Path:
        """The path of the folder, archive or table of pictures."""
        return Path(self.images)


TABLES = (".parquet", ".csv")  # the suffixes of files with tables of features
FEATURES = (".npy", ".npz", *TABLES)


class FeaturesFile(Strict):
    """A set of image features: read from a file, computed from images by a network, or read by the adapter.

    `formats/features_file.py` describes the formats of the file.
    """

    # a `.npy`, `.npz` (CSR), `.parquet` or `.csv` file: the name of one of the data set's `files`, or a path
    file: str | None = None
    network: Network | None = None  # instead of `file`: a network, and the images whose features it computes
    # instead of `file`: which features the adapter reads, as a value of its option `features`, such as `DenseHue`
    adapter: str | None = None
    # a text file with the image id of each row; none: the rows are in the order of the data set's images
    ids: str | None = None
    image: str = "image"  # the column of image ids in a .parquet or .csv file

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        """Refuse two common mistakes: a file name in place of a mapping, and `normalise` among the keys of a set."""
        if isinstance(value, str | list):
            raise PydanticCustomError("mapping", "should be a mapping, such as `file: features.npy`")
        if isinstance(value, Mapping) and "normalise" in value:
            raise PydanticCustomError(
                "normalise",
                "should be a mapping without `normalise`, which belongs next to `features` and can map sets to steps",
            )
        return value

    @field_validator("file")
    @classmethod
    def _known_format(cls, file: str | None) -> str | None:
        if file is not None and not file.endswith(FEATURES):
            raise PydanticCustomError("ending", "the name must end in .npy, .npz, .parquet or .csv")
        return file

    @model_validator(mode="after")
    def _fitting(self) -> "FeaturesFile":
        if sum(source is not None for source in (self.file, self.network, self.adapter)) != 1:
            raise PydanticCustomError("file", "name exactly one of `file`, `network` and `adapter`")
        if self.file is None and {"ids", "image"} & self.model_fields_set:
            raise PydanticCustomError("network", "should have `ids` and `image` only together with `file`")
        if self.ids is not None and self.file is not None and self.file.endswith(TABLES):
            raise PydanticCustomError(
                "ids", "should have `image` (a column) instead of `ids`, because `file` is a table"
            )
        return self

    @property
    def is_sparse(self) -> bool:
        """Whether the features are sparse."""
        return (self.file or "").endswith(".npz") or self.adapter == "sparse"


def _number_of_sets(features: Any) -> str:
    """Return a tag for the form of `features`.

    The tag is "<one set>" for a set without a name, and "<named sets>" for a mapping from names to sets. Each set has
    the key `file`, `network` or `adapter`. A set can itself be named `network` or `file`: it counts as a named set
    because its value is a mapping with one of the three keys.
    """
    if not isinstance(features, Mapping) or not features:
        return "<one set>"
    sources = {"file", "network", "adapter"}
    named = any(
        isinstance(value, FeaturesFile) or (isinstance(value, Mapping) and value.keys() & sources)
        for value in features.values()
    )
    return "<named sets>" if named or not features.keys() & FeaturesFile.model_fields.keys() else "<one set>"


FeatureSets: TypeAlias = Annotated[
    Annotated[FeaturesFile, Tag("<one set>")] | Annotated[dict[SetName, FeaturesFile], Tag("<named sets>")],
    Discriminator(_number_of_sets),
]


class Partition(Strict):
    """Text files with one image id per line that divide the images, in place of the data set's own partition."""

    train: str | None = None  # file of training images; none: all images that are not in another file
    valid: str | None = None  # file of validation images; none: they are drawn from the training images
    test: str  # file of test images

    @property
    def files(self) -> dict[str, str]:
        """The file of each part."""
        return self.model_dump(exclude_none=True)


class Propensity(Strict):
    """The constants A and B in the formula of Jain, Prabhu and Varma (KDD 2016) for the propensities of labels."""

    a: float = Field(default=0.55, ge=0)  # A: how much the propensity grows with the frequency; 0: not at all
    b: float = Field(default=1.5, gt=0)  # B: a number that is added to the number of training images with the label


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
    exceptions: str | None = None  # which of `files` is WordNet's list of irregular plurals
    without: str | None = None  # which of `files` is a list of words to ignore, one per line
    missing: Literal["error", "leave_out"] = "error"  # whether a label without a vector is an error, or is left out


class WordVectorsConfig(WordVectorsDefinition, Described):
    """A source of word vectors (`config/word_vectors/<name>.yaml`)."""

    @model_validator(mode="after")
    def _fitting(self) -> "WordVectorsConfig":
        for key, name in (("exceptions", self.exceptions), ("without", self.without)):
            if name is not None and name not in {file.name for file in self.files}:
                raise PydanticCustomError(key, f"{key}: the file is not among `files`; add it there")
        return self

    def definition(self) -> dict[str, Any]:
        """Return the keys of `WordVectorsDefinition` that are set, without `files`."""
        return self.model_dump(include=set(WordVectorsDefinition.model_fields) - {"files"}, exclude_defaults=True)

    def download_definition(self) -> dict[str, Any]:
        """Return the keys that determine the download."""
        return self.model_dump(include={"adapter", "files"}, exclude_defaults=True)

    @property
    def own_files(self) -> dict[str, str]:
        """The paths of the user's own files, by the options that name them.

        The mapping is empty if all files are downloaded, or if the vectors are simulated.
        """
        downloaded = {file.name for file in self.files}
        named = {key: self.options.get(key) for key in ("file", "tokenizer")}
        return {key: str(name) for key, name in named.items() if name is not None and name not in downloaded}


class DatasetDefinition(Source):
    """The keys of a data set's file that determine its annotations and features."""

    # a set of image features that is stored apart from the annotations; or several sets: a mapping from the name of
    # each set to its keys, such as `hue: {file: hue.npy}`
    features: FeatureSets | None = None
    partition: Partition | None = None  # files of image ids: which images to train, validate and test on
    vocabulary: Vocabulary = Vocabulary()  # filters of images and labels; see [data.md](data.md#filters)
    expected: Expected = Expected()  # counts that the processed data set must have

    @property
    def sets(self) -> dict[str, FeaturesFile]:
        """The sets of image features by their names; a single set may have the name "".

        Without the key `features`, there is at most one set: if the adapter's option `features` is set, the adapter
        reads a set. This set is sparse if the option has the value "sparse".
        """
        if self.features is not None:
            return {"": self.features} if isinstance(self.features, FeaturesFile) else self.features
        read = self.options.get("features")
        return {"": FeaturesFile(adapter=read if isinstance(read, str) else "dense")} if read else {}

    @property
    def own_files(self) -> dict[str, str]:
        """The paths of the user's own files, which are not downloaded, by the keys that name them."""
        named = {"options.pairs": self.options.get("pairs")} if self.adapter == "table" else {}
        for name, features in self.sets.items():
            key = f"features.{name}" if name else "features"
            named |= {f"{key}.file": features.file, f"{key}.ids": features.ids}
        if self.partition is not None:
            named |= {f"partition.{part}": name for part, name in self.partition.files.items()}
        return {key: name for key, name in named.items() if name is not None and not self.downloads(name)}

    @property
    def networks(self) -> dict[str, Network]:
        """The networks that compute features, by the names of the sets."""
        return {name: features.network for name, features in self.sets.items() if features.network is not None}

    def downloads(self, name: str) -> bool:
        """Return whether a file is downloaded; otherwise, it is the user's own."""
        return name in {file.name for file in self.files}


class DatasetConfig(DatasetDefinition, Described):
    """A data set (`config/datasets/<name>.yaml`)."""

    family: Family  # the kind of data; a method's `family_settings` and papers' claims apply to certain families
    # a shorter title for panels of figures, columns of tables, and menus of the report; none: `title`
    short: str | None = Field(default=None, min_length=1)
    # a list of normalisation steps of image features, in order, for methods whose settings name no steps. The steps are
    # `root` (divide each row by its sum, then take square roots), `idf`, `standard` (subtract the mean of each column,
    # then divide by its standard deviation) and `l2` (scale each row to unit length). For several sets of features, a
    # mapping from their names to steps, such as `hue: [root, l2]`
    normalise: StepsOfSets = ()
    # source of the labels' parents, for metrics of siblings: a file in config/siblings, or your own table with the
    # columns `label` and `parent`
    siblings: str | None = None
    word_vectors: str | None = None  # source of the labels' word vectors: a file in config/word_vectors
    # constants of labels' propensities, for the metrics `psp@k` and `psndcg@k`; see [metrics.md](metrics.md)
    propensity: Propensity = Propensity()
    pictures: Pictures | None = None  # pictures for the report; none: the images of the `network` in `features`

    def definition(self, *left_out: str) -> dict[str, Any]:
        """Return the keys of `DatasetDefinition` that are set, except those in `left_out`."""
        return self.model_dump(include=set(DatasetDefinition.model_fields) - set(left_out), exclude_defaults=True)

    @property
    def shown_pictures(self) -> Pictures | None:
        """The key `pictures` or, without it, the user's own images that a network reads; None if there are none."""
        own = [network for network in self.networks.values() if not self.downloads(network.images)]
        if self.pictures is not None or not own:
            return self.pictures
        return Pictures(images=own[0].images, suffixes=own[0].suffixes)

    def with_features_in(self, folder: str) -> "DatasetConfig":
        """Return the data set with each network replaced by the features that were computed with it.

        These are in `folder` or, if the sets have names, in a subfolder for each set.
        """
        written = {
            name: FeaturesFile(file=f"{place}/features.npy", ids=f"{place}/ids.txt")
            for name, place in ((name, f"{folder}/{name}".rstrip("/")) for name in self.networks)
        }
        features = written.get("", self.sets | written)
        return self.model_copy(update={"features": features})

    def steps(self, names: Sequence[str], own: Any = None) -> Any:
        """Return a method's normalisation steps for the sets `names`: those in `own`, or else those of the data set.

        If the sets have names, the result maps each name to its steps. A list of steps applies to every set.
        """

        def steps_of(name: str) -> list[NormalisationStep]:
            for steps in (own, self.normalise):
                if isinstance(steps, Mapping) and name in steps:
                    return list(steps[name])
                if isinstance(steps, Sequence):
                    return list(steps)
            return []

        return {name: steps_of(name) for name in names} if any(names) else steps_of("")

    def about(self) -> dict[str, Any]:
        """Return the keys that tables and the report show."""
        short = {} if self.short is None else {"short": self.short}
        return self.model_dump(include={"family", *Described.model_fields}) | short

    def replaced(self, options: dict[str, Any], vocabulary: dict[str, Any]) -> "DatasetConfig":
        """Return the data set with some of its options and filters replaced by those of a run.

        If the run changes the filters or the size (`scale`, or `images` and `labels`), the expected counts are dropped.
        """
        filters = Vocabulary(**self.vocabulary.model_dump(exclude_unset=True) | vocabulary)
        merged = self.model_copy(update={"options": self.options | options, "vocabulary": filters})
        sizes = ("scale", "images", "labels")
        resized = any(merged.options.get(key, 1) != self.options.get(key, 1) for key in sizes)
        if merged.vocabulary != self.vocabulary or resized:
            merged = merged.model_copy(update={"expected": Expected()})
        return merged


def read_definition(text: str, name: str) -> DatasetDefinition:
    """Read and check the definition of the data set `name`; `text` is a JSON object from a stage's command line."""
    return check(DatasetDefinition, parse_definition(text), f"{name}: --definition")


def parse_definition(text: str) -> Any:
    """Parse the JSON of the option --definition."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"--definition: not JSON ({error}): {text}") from None
