"""The configuration files, typed and checked: a run, a data set, a method."""

import json
from math import prod
from pathlib import Path
from reprlib import Repr
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.errors import UserError

Role = Literal["paper", "baseline", "control", "oracle"]
NormalisationStep = Literal["l2", "idf", "standard", "root"]  # those of `vsebench.data.features`
TransformName = Literal["torchvision", "caffe_vgg", "inception"]  # those of `vsebench.formats.images.pixels`
Resize = Annotated[int, Field(ge=1)] | Literal["squash"]  # pixels of the shorter side, or the whole image
Suffixes = Literal["keep", "drop"]  # of files in the ids of images
Family = Literal["iapr", "nuswide", "openimages", "flickr", "corel5k", "mirflickr", "imagenet", "tree", "other"]
Model = TypeVar("Model", bound=BaseModel)

SHORT = Repr()  # a value in a message is cut where it is long
SHORT.maxstring = SHORT.maxlong = 200

# The sizes whose growth is measured on data of each simulator: the time of an epoch, and that of scoring an image.
GROWTH = {"simulator": ("pairs", "labels", "factors"), "simulated_tree": ("images", "terms")}
# Options of the simulators that these sizes stand for.
SIZED = {"simulator": ("images", "labels", "occurrences", "scale"), "simulated_tree": ("images", "length", "scale")}

DEFAULT_METRICS = (
    "precision@5", "recall@5", "map@5", "ndcg@5", "auc@5",
    "precision@10", "recall@10", "map@10", "ndcg@10", "auc@10", "mrr", "auc",
)  # fmt: skip


class Strict(BaseModel):
    """A section of a configuration file: no unknown keys, no guessing of types.

    The comment behind a key, or above it, is its meaning in docs/configuration.md and docs/settings.md, which
    `vsebench fill` makes from these types.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Vocabulary(Strict):
    """Which images and labels of a data set are kept; `formats/vocabulary.py` describes the order of the filters."""

    sample_images: int | None = Field(default=None, ge=1)  # keep so many of the images with a label, drawn uniformly
    min_images_per_label: int | None = Field(default=None, ge=1)  # drop labels of fewer images
    top_labels: int | None = Field(default=None, ge=1)  # keep so many labels, those of most images
    min_labels_per_image: int | None = Field(default=None, ge=1)  # drop images with fewer labels
    only_parts: bool | None = None  # drop images that are in no part of the official partition
    seed: int = Field(default=0, ge=0)  # of the sample


class Epochs(Strict):
    """When training stops."""

    maximum: int = Field(ge=1)  # epochs at most
    patience: int = Field(ge=1)  # epochs without a better validation metric


class RunDataset(Strict):
    """What to do with one data set in a run."""

    # `distinct`, `regions`, `images`, `labelled_images`, `official`, `unseen_labels`, `unseen_labels_all`,
    # `unseen_labels_by_frequency`, `from-<data set>`; see [protocols.md](protocols.md)
    protocols: list[str] = Field(min_length=1)
    methods: list[str] | None = Field(default=None, min_length=1)  # of the run, on this data set; none: all
    protocol_methods: dict[str, list[str]] = {}  # protocol -> its methods, in place of `methods`
    # false: the tested models do not learn the validation labels; true: training and validation labels together
    refit: bool = True
    epochs: dict[str, Epochs] = {}  # method -> when its training stops on this set, in place of the run's `epochs`
    # protocols with which the run's `sweeps` are made on this set; left out: all of them, `[]`: no sweeps
    sweeps: list[str] | None = None
    words: str | None = None  # a file of config/words in place of the data set's own
    options: dict[str, Any] = {}  # replaces single options of the data set's own file, such as the simulator's `scale`
    vocabulary: dict[str, Any] = {}  # replaces single filters of the data set's own file, such as `top_labels`
    # a table of your own, which has no file in config/datasets: options of the adapter `table`, and if wanted
    # `features`, `siblings`, `words` and `pictures`; see [own-data.md](own-data.md)
    data: dict[str, Any] | None = None


class Timing(Strict):
    """How often and how long each method is timed."""

    repeats: int = Field(ge=1)  # fresh processes per method; each takes the split and settings of one seed, in turn
    epochs: int = Field(ge=1)  # timed in each
    # true: each repeat also times all epochs up to the chosen number, for claims on the time to converge
    to_best_epoch: bool = False
    protocols: list[str] | None = Field(default=None, min_length=1)  # with which methods are timed; none: with all


def _different(sizes: list[int]) -> list[int]:
    if len(set(sizes)) < max(2, len(sizes)):
        raise PydanticCustomError("sizes", "two or more different sizes are needed")
    return sizes


Sizes = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(_different)]


class Scaling(Strict):
    """Sizes of a simulated data set at which the growth of a time is measured; `GROWTH` says which its adapter has."""

    # of the adapter `simulator`: the time of an epoch, by `pairs`, `labels` and `factors`; or of `simulated_tree`: the
    # time to score an image, by `images` and `terms`
    dataset: str
    options: dict[str, Any] = {}  # replaces single options of the data set's own file
    methods: list[str] | None = Field(default=None, min_length=1)  # of the run; none: all that can be measured
    repeats: int = Field(ge=2)  # an exponent's interval is computed over the repeats
    pairs: Sizes | None = None  # of training
    labels: Sizes | None = None  # in the vocabulary
    factors: Sizes | None = None  # K
    images: Sizes | None = None  # of training
    terms: Sizes | None = None  # counts of an image, on average

    @property
    def sizes(self) -> dict[str, list[int]]:
        """The values of each size that is varied."""
        return self.model_dump(include={"pairs", "labels", "factors", "images", "terms"}, exclude_none=True)


class RunConfig(Strict):
    """A run: which data sets, protocols, methods and seeds (`config/config.yaml`)."""

    # by the names of their files in config/datasets; `data` stands for a file
    datasets: dict[str, RunDataset] = Field(min_length=1)
    # by the names of their files in config/methods, in the order of display; a method is left out where it cannot run,
    # such as one that needs image features
    methods: list[str] = Field(min_length=1)
    seeds: list[int] = Field(min_length=1)  # a split and a fit for each; results are means over them
    factors: int = Field(ge=1)  # K of every method that has factors and whose file names none
    # true: choose settings from each method's `grid` on the validation labels, under `official` with the first seed
    # for all; false: take its `settings`. The number of epochs is chosen on the validation labels either way
    tune: bool
    tuning_budget: int = Field(
        ge=1
    )  # how many configurations every grid has where the run tunes: the same for all methods
    # configurations that a method may try beyond its grid, each a step by the ratio of its last two values (2 next to
    # a 0), as long as the best one is on an edge of what was tried
    tuning_beyond_edges: int = Field(default=0, ge=0)
    # what settings and epochs are chosen by: a metric of each image's ranks, larger being better; none: the protocol's,
    # `ndcg@10` for `distinct` and `regions`, `map` for the others
    validation_metric: str | None = None
    # what is measured, by full names, in the order of display; see [metrics.md](metrics.md)
    metrics: list[str] = Field(default=list(DEFAULT_METRICS), min_length=1)
    validation_images: int = Field(ge=1)  # the largest number of images to validate on
    bootstrap: int = Field(ge=100)  # resamples behind intervals and tests
    timing: Timing  # how often and how long each method is timed
    scaling: Scaling | None = None  # if given: how a time grows with the size of simulated data
    # method -> when its training stops, in place of what its file says; `default`: for each that is not named
    epochs: dict[str, Epochs] = {}
    grids: dict[
        str, dict[str, list[Any]]
    ] = {}  # method -> setting -> values to try if the run tunes, in place of its file's
    decisions: dict[str, list[str]] = {}  # a file of config/decisions -> the methods that get it
    # method -> setting -> values to try; where the run tunes, the other settings of its grid are tuned at each
    sweeps: dict[str, dict[str, list[int | float]]] = {}
    # configurations that are tried beyond the edges of the grid at each value of a sweep, where the best of the other
    # settings may be far from it; left out: as many as `tuning_beyond_edges`
    sweeps_beyond_edges: int | None = Field(default=None, ge=0)
    papers: list[str] | None = None  # names of files in config/papers, to compare with the results; none: all of them

    @property
    def timed_seeds(self) -> list[int]:
        """The seed whose split and settings each repeat of the timing takes, one after the other."""
        return [self.seeds[repeat % len(self.seeds)] for repeat in range(self.timing.repeats)]


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


class MethodConfig(Strict):
    """A row of the results: a method with its settings (`config/methods/<row>.yaml`)."""

    title: str  # for tables and the report
    # another file of the folder: this one's `settings` replace some of the other's, and each further key that stands
    # here replaces the other's whole key
    extends: str | None = None
    method: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # a module of `src/vsebench/methods`; files can share one
    # a method of the papers, a baseline, a control, or an oracle, which knows what no method may know, so that it is
    # shown and not compared
    role: Role
    source: str  # paper, equation, and where the settings are from
    # all settings of the method that have no default; `factors` only where the method has a size of its own
    settings: dict[str, Any] = {}
    family_settings: dict[Family, dict[str, Any]] = {}  # replace settings for one family of data sets
    epochs: Epochs | None = None  # when training stops; exactly where the method is trained by epochs
    grid: dict[str, list[Any]] = {}  # setting -> values to try if the run tunes; all combinations are tried
    stays_in_grid: bool = False  # true: no search beyond the grid's edges, such as those of a range in print
    members: list[str] = []  # methods of the run, for an ensemble, which has no settings, epochs or grid of its own

    @property
    def grid_size(self) -> int:
        return prod(len(values) for values in self.grid.values())


class Search(Strict):
    """What a search on the validation labels chose for a row, out of how many configurations."""

    configurations: int = Field(ge=1)  # how many were tried
    grid: dict[str, list[Any]] = Field(min_length=1)  # the values that were tried
    seeds: dict[int, dict[str, Any]] = Field(min_length=1)  # seed of the split -> all settings of the method


class SearchesAtPlace(Strict):
    """The searches on a data set under one protocol."""

    validation_metric: str  # what settings were chosen by
    rows: dict[str, Search]  # method -> its search


class ChosenSettings(Strict):
    """The settings that a tuned run chose on a data set (`config/chosen/<data set>.yaml`, by `vsebench record`)."""

    options: dict[str, Any]  # of the data set in that run, all of them
    vocabulary: Vocabulary  # its filters in that run
    protocols: dict[str, SearchesAtPlace]  # protocol -> the searches under it


class Decided(Strict):
    """A rule that chooses label sets, with its settings."""

    decision: str = Field(pattern=r"^[a-z][a-z0-9_]*$")  # a module of `src/vsebench/evaluation/decisions`
    settings: dict[str, Any] = {}  # the decision's own
    tuned_for: str | None = None  # a metric of sets, which is as good as possible on the validation images


class DecisionConfig(Decided):
    """A decision of the results (`config/decisions/<name>.yaml`)."""

    title: str  # for tables and the report
    role: Role  # as in a method's file
    source: str  # paper, section, and where the settings are from


class _UniqueKeys(yaml.SafeLoader):
    """Reads plain YAML; refuses duplicate keys, of which YAML would silently take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key, (where, _) in zip(keys, node.value, strict=True):
            if keys.count(key) > 1:
                raise yaml.MarkedYAMLError(problem=f"duplicate key {key!r}", problem_mark=where.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Read YAML without executing anything in it."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except RecursionError:
        raise UserError(f"{path}: not readable YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:  # odd values
        raise UserError(f"{path}: not readable YAML: {' '.join(str(error).split())}") from None


def check(model: type[Model], value: Any, where: str) -> Model:
    """Validate `value`; a mistake raises a `UserError` that names `where`, the key and what is wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UserError("; ".join(_explain(detail, where) for detail in error.errors())) from None


def _explain(detail: Any, where: str) -> str:
    key = ".".join(str(part) for part in detail["loc"]) or "the whole file"
    match detail["type"]:
        case "extra_forbidden":
            return f"{where}: {key}: unknown key"
        case "missing":
            return f"{where}: {key}: this key is missing"
    if not detail["loc"] and isinstance(detail["input"], dict):
        return f"{where}: {detail['msg']}"  # a rule of several keys, which it names
    return f"{where}: {key}: {detail['msg']}, not {SHORT.repr(detail['input'])}"


def read_config(model: type[Model], path: Path) -> Model:
    """Read and validate a configuration file."""
    return check(model, read_yaml(path), str(path))


def read_method_config(path: Path) -> MethodConfig:
    """Read a row's file, with what it takes over from the file that it extends."""
    return check(MethodConfig, _extended(path, ()), str(path))


def _extended(path: Path, extending: tuple[Path, ...]) -> Any:
    """Return the values of a row's file together with those of the file that it extends."""
    values = read_yaml(path)
    if not isinstance(values, dict) or values.get("extends") is None:
        return values
    name = values.pop("extends")
    if not isinstance(name, str):
        raise UserError(f"{path}: extends: should be the name of another file of the folder")
    base = path.with_name(f"{name}.yaml")
    if base in (*extending, path):
        raise UserError(f"{path}: extends: {base.stem!r} extends this row itself; name another one")
    if not base.is_file():
        raise UserError(f"{path}: extends: {base.stem!r} has no file {base}")
    taken = _extended(base, (*extending, path))
    if not isinstance(taken, dict) or not isinstance(values.get("settings", {}), dict):
        return values  # the check of the values says what is wrong
    settings = {"settings": (taken.get("settings") or {}) | values["settings"]} if "settings" in values else {}
    return taken | values | settings


def read_definition(text: str, name: str) -> DatasetDefinition:
    """Read and check the definition of the data set `name`, a JSON object from a stage's command line."""
    return check(DatasetDefinition, parse_definition(text), f"{name}: --definition")


def parse_definition(text: str) -> Any:
    """Parse the JSON of the option --definition."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"--definition: not JSON ({error}): {text}") from None
