"""What a run consists of: its configuration, data sets and methods, read and checked before the first job starts."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from vsebench.core.configuration import (
    GROWTH,
    SIZED,
    ChosenSettings,
    DatasetConfig,
    DecisionConfig,
    Epochs,
    MethodConfig,
    Network,
    RunConfig,
    RunDataset,
    Search,
    SiblingsConfig,
    Vocabulary,
    WordsConfig,
    check,
    read_config,
    read_yaml,
)
from vsebench.core.errors import ONNX, UserError, missing_package
from vsebench.core.places import Entry, Place
from vsebench.evaluation.decisions.base import load_decision
from vsebench.evaluation.metrics.base import ListMetric, RankMetric, is_of_decision, load_metric
from vsebench.formats import parent_table, table
from vsebench.formats.adapters import knows, load_adapter
from vsebench.methods.base import Ensemble, Fitter, Method, epochs_mistake, load_method, read_settings, with_factors
from vsebench.papers.audit.checking import choose
from vsebench.papers.base import Paper
from vsebench.papers.published import read_published
from vsebench.papers.verdicts import read_claims
from vsebench.protocols.base import FROM, load_protocol, source_of
from vsebench.rendering.kinds import (
    FigureKind,
    Instance,
    TableKind,
    instances_of_paper,
    instances_of_run,
    kinds_of_paper,
)
from vsebench.rendering.outline import GATHERED, ON_REQUEST, LeftOut, MetricLeftOut, Outline, OutlineRow

# These are names of folders, so the workflow must be able to distinguish them from others.
DATASET_NAME = "[a-z][a-z0-9-]*"
ROW_NAME = "[a-z][a-z0-9_]*"
RESERVED = "split"
FEATURES = "data/features"  # in a folder per data set, what the stage `features` makes
NO_DECISIONS = "the models learn the validation images, unless the data set has refit: false"
INCLUDED = "data/included/"  # files that come with the project, wherever a run is started
NO_DECISIONS_OF_UNSEEN = "its validation images are asked for other labels than its test images"
NO_SIBLINGS = "nothing says which labels of the data set are siblings"


@dataclass(frozen=True)
class Plan:
    """A run's configuration with those of its data sets and rows."""

    folder: Path  # of the configuration files
    name: str  # of the run's own file
    config: RunConfig
    datasets: dict[str, DatasetConfig]
    methods: dict[str, MethodConfig]
    papers: list[Paper]
    siblings: dict[str, SiblingsConfig]  # of the data sets that say where their labels' parents are from
    words: dict[str, WordsConfig]  # of the data sets that say where the word vectors of their labels are from
    decisions: dict[str, DecisionConfig]
    chosen: dict[str, ChosenSettings]  # of the data sets with recorded searches for settings

    @classmethod
    def read(cls, folder: Path, values: dict[str, Any], files: list[Path], overridden: Collection[str] = ()) -> "Plan":
        """Check a run's configuration and read what it names.

        Parameters
        ----------
        folder : the folder with `datasets`, `methods` and `papers`
        values : the configuration, as Snakemake put it together
        files : where it is from, to name the right one in an error
        overridden : the keys that the command line sets
        """
        for file in files:
            _check_keys(file)
        where = " + ".join([*map(str, files), *(["--config"] if overridden else [])]) or "the command line"
        config = check(RunConfig, values | {key: _typed(values[key]) for key in overridden}, where)
        _check_lists(config, where)
        _check_protocols(config, where)
        _check_chosen_rows(config, where)
        datasets = {name: _dataset(name, entry, folder, where) for name, entry in config.datasets.items()}
        methods = {name: _method(name, config, folder, where) for name in config.methods}
        _check_metrics(config, where)
        siblings = _siblings(datasets, config, folder, where)
        words = _words(datasets, config, folder, where)
        decisions = {name: _read_named(DecisionConfig, folder / "decisions", name, where) for name in config.decisions}
        papers = _papers(config, folder, where)
        chosen = _chosen(datasets, folder)
        name = " + ".join(file.name for file in files)
        plan = cls(folder, name, config, datasets, methods, papers, siblings, words, decisions, chosen)
        plan._check_data(where)
        plan._check_epochs(where)  # before the rows' files: a wrong row here is no mistake of its file
        plan._check_settings(where)
        plan._check_members(where)
        plan._check_grids(where)
        plan._check_decisions(where)
        plan._check_sweeps(where)
        plan._check_timing(where)
        plan._check_scaling(where)
        plan._check_lists_of_siblings(where)
        plan._check_papers()
        plan._check_places(where)
        return plan

    def _check_data(self, where: str) -> None:
        """Check the options of the data sets' adapters, and that the user's own files exist."""
        for name, dataset in self.datasets.items():
            entry = self.config.datasets[name]
            key = f"{where}: datasets.{name}.data" if entry.data is not None else f"{self.folder}/datasets/{name}.yaml"
            replaced = f" (replaced by the run: {', '.join(entry.options)})" if entry.options else ""
            adapter = load_adapter(dataset.adapter, key)
            if entry.data is None:
                check(adapter.Options, dataset.options, f"{key}: options{replaced}")
            if dataset.adapter == "table" and "pairs" in entry.options:
                raise UserError(f"{where}: datasets.{name}.options.pairs: name the table in the data set's own file")
            if dataset.features is not None and dataset.options.get("features"):
                raise UserError(f"{key}: features: a data set has one set of features; options.features names another")
            if dataset.features_name == "features.npz" and "standard" in dataset.normalise:
                raise UserError(f"{key}: normalise: 'standard' would make sparse features dense; leave it out")
            for name_of_file, path in dataset.own_files.items():
                if not Path(path).is_file():
                    separator = ": " if entry.data is None else "."
                    inside = name_of_file if entry.data is None else name_of_file.removeprefix("options.")
                    raise UserError(f"{key}{separator}{inside}: there is no file {path} (seen from {Path.cwd()})")
            if dataset.pictures is not None and not dataset.pictures.path.exists():
                inside = f"{key}{': ' if entry.data is None else '.'}pictures.images"
                missing = dataset.pictures.images
                raise UserError(f"{inside}: there is no file or folder {missing} (seen from {Path.cwd()})")
            if dataset.network is not None:
                _check_network(dataset, dataset.network, f"{key}{': ' if entry.data is None else '.'}features.network")

    def _check_settings(self, where: str) -> None:
        """Check every row's settings and each value of its grid before the first job."""
        for row, method in self.methods.items():
            file = f"{self.folder}/methods/{row}.yaml"
            try:
                module = load_method(method.method)
            except UserError as error:
                raise UserError(f"{file}: {error}") from None
            if issubclass(module, Method) != (method.epochs is not None):
                raise UserError(f"{file}: epochs: {epochs_mistake(module)}")
            if "test_labels" in module.needs and method.role != "oracle":
                raise UserError(f"{file}: role: {module.__name__} reads the test labels; set role: oracle")
            if issubclass(module, Ensemble) or method.members:
                continue  # its settings are its members, see _check_members
            families, grid = method.family_settings.items(), self._grid_key(row, where)
            changes: list[tuple[str, dict[str, Any]]] = [(f"{file}: settings", {})]
            changes += [(f"{file}: family_settings.{family}", values) for family, values in families]
            changes += [(grid, {key: value}) for key, values in method.grid.items() for value in values]
            for key, values in changes:
                changed = with_factors(module, method.settings | values, self.config.factors)
                read_settings(module, changed, key)

    def _check_members(self, where: str) -> None:
        """Check that ensembles, and they alone, name members: rows of the run of a kind that can be added up."""
        for row, method in self.methods.items():
            file, module = f"{self.folder}/methods/{row}.yaml", self.method_class(row)
            if not issubclass(module, Ensemble):
                if method.members:
                    raise UserError(f"{file}: members: {module.__name__} is no ensemble; remove this key")
                continue
            if len(set(method.members)) < max(2, len(method.members)):
                raise UserError(f"{file}: members: name two or more rows, each once")
            if method.settings or method.family_settings or method.grid:
                raise UserError(f"{file}: settings, family_settings, grid: an ensemble has none; remove these keys")
            for member in method.members:
                if member not in self.methods:
                    raise UserError(f"{where}: methods: {row} is an ensemble of {member}, which is missing; add it")
                if not issubclass(self.method_class(member), module.member_type):
                    raise UserError(f"{file}: members: {module.__name__} cannot add up {member}; name other rows")
        for place in self.places:
            rows = self.rows(place)
            missing = [(row, member) for row in rows for member in self.methods[row].members if member not in rows]
            for row, member in missing:
                key = f"datasets.{place.dataset}.methods"
                raise UserError(f"{where}: {key}: {row} is an ensemble of {member}, which is missing; add it")

    def _grid_key(self, row: str, where: str) -> str:
        """Return where a row's grid is from: the run or the row's file."""
        return f"{where}: grids.{row}" if row in self.config.grids else f"{self.folder}/methods/{row}.yaml: grid"

    def _check_grids(self, where: str) -> None:
        """Check that the run's grids are of its rows, and that every grid has as many configurations as its budget."""
        for row in self.config.grids:
            if row not in self.methods:
                raise UserError(f"{where}: grids: {row} is not among the run's methods; add it there")
        for row, method in self.methods.items():
            if self.config.tune and method.grid and method.grid_size != self.config.tuning_budget:
                raise UserError(
                    f"{self._grid_key(row, where)}: {method.grid_size} configurations, but tuning_budget is "
                    f"{self.config.tuning_budget}; every method gets the same number"
                )

    def _check_epochs(self, where: str) -> None:
        """Check that the rows in the keys `epochs` are trained by epochs."""
        for row in self.config.epochs:
            self._trained(row, f"{where}: epochs")
        for dataset, entry in self.config.datasets.items():
            for row in entry.epochs:
                self._trained(row, f"{where}: datasets.{dataset}.epochs")

    def _trained(self, row: str, where: str) -> MethodConfig:
        """Return a row that is trained by epochs; it need not be among the run's methods, but must have a file."""
        method: MethodConfig = _read_named(MethodConfig, self.folder / "methods", row, where)
        if not method.epochs:
            raise UserError(f"{where}: {row} is not trained by epochs")
        return method

    def _check_sweeps(self, where: str) -> None:
        """Check each value of each setting that is varied."""
        for row, sweeps in self.config.sweeps.items():
            method = self._trained(row, f"{where}: sweeps")
            module = load_method(method.method)
            for parameter, values in sweeps.items():
                for value in values:
                    changed = with_factors(module, method.settings | {parameter: value}, self.config.factors)
                    read_settings(module, changed, f"{where}: sweeps.{row}")

    def _check_decisions(self, where: str) -> None:
        """Check the settings of decisions, that their rows exist, and that their models can teach them.

        As with sweeps, a row that is not in the run is left out, so that a user can change its methods alone.
        """
        for name, decision in self.decisions.items():
            file = f"{self.folder}/decisions/{name}.yaml"
            for row in self.config.decisions[name]:
                _read_named(MethodConfig, self.folder / "methods", row, f"{where}: decisions.{name}")
            try:
                kind = load_decision(decision.decision)
                tuned = decision.tuned_for is not None and is_of_decision(decision.tuned_for)
                judged = decision.tuned_for is None or load_metric(decision.tuned_for).is_quality
            except UserError as error:
                raise UserError(f"{file}: {error}") from None
            check(kind.settings_type, decision.settings, f"{file}: settings")
            for row in set(self.config.decisions[name]) & set(self.methods):
                if "thresholds" in kind.needs and "thresholds" not in self.method_class(row).gives:
                    raise UserError(f"{where}: decisions.{name}: {row} learns no thresholds; name another row")
            if kind.tunes and not (tuned and judged):
                raise UserError(f"{file}: tuned_for: a metric of label sets is needed, such as macro_f1 or exact_match")
            if not kind.tunes and decision.tuned_for is not None:
                raise UserError(f"{file}: tuned_for: {kind.__name__} is not tuned for a metric; remove this key")
        of_decisions = [name for name in self.config.metrics if is_of_decision(name)]
        if of_decisions and not self.decisions:
            raise UserError(
                f"{where}: metrics: {of_decisions[0]} is of the label sets that decisions choose, and the run has no "
                f"`decisions`; for the first labels of a ranking use {of_decisions[0]}@5"
            )

    def _check_timing(self, where: str) -> None:
        """Check that every protocol with which methods are timed is one of the run's."""
        for name in self.config.timing.protocols or ():
            if name not in {place.protocol for place in self.places}:
                raise UserError(f"{where}: timing.protocols: no data set of the run has the protocol {name}; remove it")

    def _check_scaling(self, where: str) -> None:
        """Check that the sizes of the data set that is scaled can be varied."""
        scaling = self.config.scaling
        if scaling is None:
            return
        config = _read_named(DatasetConfig, self.folder / "datasets", scaling.dataset, f"{where}: scaling")
        if config.adapter not in GROWTH:
            raise UserError(
                f"{where}: scaling.dataset: {scaling.dataset} is not simulated, so its size cannot be varied"
            )
        if set(scaling.sizes) != set(GROWTH[config.adapter]):
            wanted = ", ".join(GROWTH[config.adapter])
            raise UserError(f"{where}: scaling: the sizes of {scaling.dataset} are {wanted}; name these and no others")
        for key in SIZED[config.adapter]:
            if key in scaling.options:
                raise UserError(f"{where}: scaling.options.{key}: the sizes say it; remove this key")
        options = load_adapter(config.adapter, where).Options
        check(options, config.options | scaling.options, f"{where}: scaling.options")
        for row in scaling.methods or ():
            if row not in self.scaled_rows:
                reason = "is not among the run's methods" if row not in self.methods else "cannot be measured there"
                raise UserError(f"{where}: scaling.methods: {row} {reason}")

    def _check_places(self, where: str) -> None:
        """Check that at least one row can run on every data set, and that unseen labels can be drawn."""
        for place in self.named_places:
            if load_protocol(place.protocol).unseen:
                self._check_words(place, f"{where}: datasets.{place.dataset}.protocols: {place.protocol}")
            if place.dataset not in {found.dataset for found in self.places}:
                reasons = "; ".join(f"{row}: {reason}" for row, reason in self.obstacles(place).items())
                raise UserError(
                    f"{where}: datasets.{place.dataset}: no method can run under {place.protocol} ({reasons})"
                )

    def _check_words(self, place: Place, key: str) -> None:
        """Check that all labels of a place with unseen labels have words from the same source."""
        for name in [place.dataset, *_sources([place.protocol])]:
            if name not in self.words:
                wanted = f"name a file of {self.folder}/words under `words` of {name}"
                raise UserError(
                    f"{key} is for labels with word vectors, and nothing says where these are from; {wanted}"
                )
            if self.datasets[name].words != self.datasets[place.dataset].words:
                sources = f"{self.datasets[place.dataset].words} and {self.datasets[name].words}"
                raise UserError(f"{key}: the words are from {sources}; name the same file under `words` for both")

    def _check_lists_of_siblings(self, where: str) -> None:
        """Check that a metric of siblings can be computed at one place at least."""
        if self.list_metrics and not self.siblings:
            raise UserError(
                f"{where}: metrics: {self.list_metrics[0]}: no data set of the run says which labels are siblings; "
                "name a source under `siblings` in a data set's file"
            )

    def _check_papers(self) -> None:
        """Check the papers' files before the first job."""
        for paper in self.papers:
            read_claims(paper)
            choose(paper.checks, f"{paper.path}: checks")
            read_published([paper.numbers])
            instances_of_paper(TableKind, paper.path, paper.tables)
            instances_of_paper(FigureKind, paper.path, paper.figures)

    def download_definition(self, dataset: str) -> dict[str, Any]:
        """Return the keys of a data set's file that its download depends on."""
        config = self.datasets[dataset]
        adapter = load_adapter(config.adapter, dataset)
        asks = config.adapter == "table" or hasattr(adapter, "alternatives") or hasattr(adapter, "fetch")
        made = [] if config.network is None else ["features"]
        return config.definition("vocabulary", "expected", *([] if asks else ["options"]), *made)

    def prepared(self, dataset: str) -> DatasetConfig:
        """Return a data set as the stage `prepare` reads it: where a network makes features, they are files."""
        config = self.datasets[dataset]
        return config if config.network is None else config.with_features_in(f"{FEATURES}/{dataset}")

    def about(self, dataset: str) -> dict[str, Any]:
        """Return what tables and the report show of a data set, and of the sources of its siblings and words."""
        keys = {"title", "licence", "citation", "homepage"}
        sources = {"siblings": self.siblings.get(dataset), "words": self.words.get(dataset)}
        found = {name: source.model_dump(include=keys) for name, source in sources.items() if source is not None}
        return self.datasets[dataset].about() | found

    @cached_property
    def places(self) -> list[Place]:
        """Every data set with each of its protocols, where one of the run's rows can run there."""
        return [place for place in self.named_places if self.rows(place)]

    @property
    def named_places(self) -> list[Place]:
        """Return every data set with each of its protocols."""
        return [Place(name, protocol) for name, entry in self.config.datasets.items() for protocol in entry.protocols]

    @property
    def joined(self) -> list[Place]:
        """Return the places that train on another data set than they test on."""
        return [place for place in self.places if source_of(place.protocol)]

    def joined_features(self, place: Place) -> list[str]:
        """Return the files of features that are joined at such a place, those of the tested data set first."""
        if "features" not in self.offers(place):
            return []
        names = [place.dataset, *_sources([place.protocol])]
        return [f"data/processed/{name}/{self.datasets[name].features_name}" for name in names]

    def processed_files(self, dataset: str) -> list[str]:
        """Return the files that the stage `prepare` writes."""
        config = self.datasets[dataset]
        features = [config.features_name] if config.features_name else []
        truth = ["truth.npz"] if knows(config.adapter) else []
        return ["pairs.parquet", "images.parquet", "labels.parquet", "summary.json", *features, *truth]

    def offers(self, place: Place) -> set[str]:
        """Return which of the needs of methods a place satisfies (keys of `methods.base.LACKS`)."""
        dataset = self.datasets[place.dataset]
        known = set() if load_protocol(place.protocol).new_images else {"known_labels"}
        both = [dataset, *(self.datasets[name] for name in _sources([place.protocol]))]
        features = {"features"} if all(one.features_name for one in both) else set()
        words = {"words"} if place.dataset in self.words else set()
        rules = load_protocol(place.protocol)
        labels = ({"test_labels"} if rules.unseen else set()) | (set() if rules.only_unseen else {"trained_labels"})
        given = {"given_labels"} if source_of(place.protocol) else set()
        return known | features | words | labels | given | knows(dataset.adapter)

    def obstacles(self, place: Place) -> dict[str, str]:
        """Return the rows that cannot run at a place, and why."""
        offers = self.offers(place)
        found = {row: self.method_class(row).obstacle(offers) for row in self.chosen_rows(place)}
        return {row: reason for row, reason in found.items() if reason is not None}

    def left_out_lines(self) -> list[str]:
        """Return one line per place and reason that says which rows are left out."""
        lines = []
        for place in self.named_places:
            found = self.obstacles(place)
            for reason in dict.fromkeys(found.values()):
                rows = ", ".join(row for row in found if found[row] == reason)
                lines.append(f"Left out at {place}: {rows}: {reason}.")
            wanted = {row for rows in self.config.decisions.values() for row in rows} & set(self.rows(place))
            obstacle = self._obstacle_to_decisions(place)
            if wanted and load_protocol(place.protocol).new_images and obstacle:
                lines.append(f"Left out at {place}: decisions: {obstacle}.")
            if missing := self.missing_metrics(place):
                lines.append(f"Left out at {place}: {', '.join(missing)}: {NO_SIBLINGS}.")
        return lines

    @cached_property
    def cold_places(self) -> list[Place]:
        """The places where a test image can have no training label while others have some."""
        return [place for place in self.places if load_protocol(place.protocol).leaves_cold]

    @property
    def list_metrics(self) -> list[str]:
        """Return the metrics of the run that need the siblings of labels."""
        return [name for name in self.config.metrics if isinstance(load_metric(name), ListMetric)]

    def missing_metrics(self, place: Place) -> list[str]:
        """Return the metrics that cannot be computed at a place, because nothing says which labels are siblings."""
        return [] if place.dataset in self.siblings else self.list_metrics

    def method_class(self, row: str) -> type[Fitter]:
        """Return the class of a row's method."""
        return load_method(self.methods[row].method)

    @cached_property
    def outline(self) -> Outline:
        """What the run consists of, for tables, figures and the report."""
        makes = {"scaling": self.config.scaling is not None, "sweeps": bool(self.config.sweeps)}
        makes |= {"words": bool(self.words), "cold": bool(self.cold_places)}
        makes |= {name: bool(self.rows_read(name)) for name in ON_REQUEST}
        protocols = {place.protocol: load_protocol(place.protocol).words for place in self.places}
        return Outline(
            configuration=self.name,
            places=self.places,
            rows={
                row: OutlineRow(title=method.title, role=method.role, source=method.source)
                for row, method in self.methods.items()
            },
            protocols=protocols,
            seeds=self.config.seeds,
            metrics=[name for name in self.config.metrics if not is_of_decision(name)],
            decision_metrics=[name for name in self.config.metrics if is_of_decision(name)],
            decisions={
                name: OutlineRow(title=decision.title, role=decision.role, source=decision.source)
                for name, decision in self.decisions.items()
            },
            decided=[place for place in self.places if self.decided(place)],
            left_out=[
                LeftOut(dataset=place.dataset, protocol=place.protocol, method=row, reason=reason)
                for place in self.places
                for row, reason in self.obstacles(place).items()
            ],
            metrics_left_out=[
                MetricLeftOut(dataset=place.dataset, protocol=place.protocol, metric=metric, reason=NO_SIBLINGS)
                for place in self.places
                for metric in self.missing_metrics(place)
            ],
            papers={paper.name: paper.title for paper in self.papers},
            files=[name for name in GATHERED if makes.get(name, True)],
        )

    @property
    def pictures(self) -> dict[str, dict[str, Any]]:
        """Where the pictures of the data sets' images are, for those that say so."""
        sources = {name: dataset.shown_pictures for name, dataset in self.datasets.items()}
        return {name: source.model_dump() for name, source in sources.items() if source is not None}

    @cached_property
    def tables(self) -> dict[str, Instance]:
        """The tables of the run and of its papers, by their names."""
        found = instances_of_run(TableKind, self.outline)
        for paper in self.papers:
            found |= instances_of_paper(TableKind, paper.path, paper.tables)
        return found

    @cached_property
    def figures(self) -> dict[str, Instance]:
        """The figures of the run and of its papers, by their names."""
        found = instances_of_run(FigureKind, self.outline)
        for paper in self.papers:
            found |= instances_of_paper(FigureKind, paper.path, paper.figures)
        return found

    def rows_read(self, name: str) -> list[str]:
        """Return the rows at all places, as dataset/protocol/row, that a file of `ON_REQUEST` is made of.

        Those with a decision are named as dataset/protocol/row/decision.
        """
        wanted = self._rows_on_request[name]
        return [
            f"{place}/{entry}"
            for place in self.places
            for entry in [*self.rows(place), *map(str, self.decided(place))]
            if entry in wanted
        ]

    @cached_property
    def _rows_on_request(self) -> dict[str, set[str]]:
        """The rows that each file of `ON_REQUEST` is made of for the papers' claims, tables and figures."""
        wanted: dict[str, set[str]] = {name: set() for name in ON_REQUEST}
        for paper in self.papers:
            tests = [claim.test for claim in read_claims(paper)]
            kinds = kinds_of_paper(paper.path, paper.tables, paper.figures)
            for name, rows in wanted.items():
                rows.update(row for test in tests if name in test.reads for row in test.rows_read())
                rows.update(row for kind in kinds if name in kind.needs for row in kind.rows_read())
        return wanted

    def chosen_rows(self, place: Place) -> list[str]:
        """Return the rows that the run wants at a place, in its order: all, or those that it names for it."""
        entry = self.config.datasets[place.dataset]
        named = entry.protocol_methods.get(place.protocol, entry.methods)
        return [row for row in self.methods if named is None or row in named]

    def rows(self, place: Place) -> list[str]:
        """Return the rows that run at a place."""
        left_out = self.obstacles(place)
        return [row for row in self.chosen_rows(place) if row not in left_out]

    def decisions_of(self, row: str, place: Place) -> list[str]:
        """Return the decisions that a row gets at a place: none where test images are known, a model is refit, or
        labels are unseen.

        One that needs the law of the labels is left out where that is not known.
        """
        if not load_protocol(place.protocol).new_images or self._obstacle_to_decisions(place):
            return []
        given = [name for name, rows in self.config.decisions.items() if row in rows]
        has_law = "law" in self.offers(place)
        return [name for name in given if has_law or "law" not in load_decision(self.decisions[name].decision).needs]

    def _obstacle_to_decisions(self, place: Place) -> str | None:
        """Return why no decision can be taught at a place of new images, or None if it can."""
        if load_protocol(place.protocol).unseen:
            return NO_DECISIONS_OF_UNSEEN
        return NO_DECISIONS if self.config.datasets[place.dataset].refit else None

    def decided(self, place: Place) -> list[Entry]:
        """Return each row of a place with each of its decisions; none if the run has no metric of label sets."""
        if not any(map(is_of_decision, self.config.metrics)):
            return []
        return [Entry(row, name) for row in self.rows(place) for name in self.decisions_of(row, place)]

    def not_compared(self, place: Place) -> list[Entry]:
        """Return the oracles of a place, which are not compared with the others: rows, and rows with decisions."""
        oracles = self.oracles(place)
        decided = [
            entry
            for entry in self.decided(place)
            if entry.row in oracles or self.decisions[entry.decision].role == "oracle"
        ]
        return [*map(Entry, oracles), *decided]

    @property
    def timed_places(self) -> list[Place]:
        """The places where methods are timed."""
        protocols = self.config.timing.protocols
        return [place for place in self.places if protocols is None or place.protocol in protocols]

    def timed_rows(self, place: Place) -> list[str]:
        """Return the rows that are timed: those for which something is chosen."""
        return [row for row in self.rows(place) if self.is_validated(row)]

    def oracles(self, place: Place) -> list[str]:
        """Return the rows of a place that are not compared with the others."""
        return [row for row in self.rows(place) if self.methods[row].role == "oracle"]

    @property
    def rank_metrics(self) -> list[str]:
        """Return the metrics of the run that follow from the ranks of an image's labels."""
        return [name for name in self.config.metrics if isinstance(load_metric(name), RankMetric)]

    def is_validated(self, row: str) -> bool:
        """Return whether something is chosen for a row on validation labels: epochs, settings of a grid, or weights."""
        method = self.methods[row]
        return bool(method.epochs or method.grid or method.members)

    def validation_metric(self, place: Place) -> str:
        """Return the metric that settings and epochs are chosen by."""
        return self.config.validation_metric or load_protocol(place.protocol).validation_metric

    def settings(self, row: str, dataset: str) -> dict[str, Any]:
        """Return a row's settings on a data set, before tuning."""
        return self._settings(row, self.datasets[dataset])

    def starting_settings(self, row: str, place: Place, seed: int) -> dict[str, Any]:
        """Return the settings that a row is fitted with at a place, or that its grid varies where the run tunes.

        Where a search is recorded, they are those that it chose with the seed's split, or with its first one.
        """
        search = self.search(row, place)
        if search is None:
            return self.settings(row, place.dataset)
        return search.seeds.get(seed, next(iter(search.seeds.values())))

    def search(self, row: str, place: Place) -> Search | None:
        """Return the recorded search for a row's settings at a place; None where the run tunes, or if there is none.

        One of other data, by another metric, or with other settings where its grid has no values, does not count.
        """
        chosen = self.chosen.get(place.dataset)
        if self.config.tune or chosen is None or not self._is_of_data(chosen, self.datasets[place.dataset]):
            return None
        at_place = chosen.protocols.get(place.protocol)
        if at_place is None or at_place.validation_metric != self.validation_metric(place):
            return None
        search, own = at_place.rows.get(row), self.settings(row, place.dataset)
        if search is None or not all(_is_of_grid(found, own, search.grid) for found in search.seeds.values()):
            return None
        return search

    @staticmethod
    def _is_of_data(chosen: ChosenSettings, dataset: DatasetConfig) -> bool:
        """Return whether settings were chosen on a data set with the same options and filters."""
        options = check(load_adapter(dataset.adapter, dataset.title).Options, dataset.options, dataset.title)
        return chosen.options == options.model_dump(mode="json") and chosen.vocabulary == dataset.vocabulary

    @property
    def not_tuned(self) -> dict[str, int]:
        """Return where a run that does not tune has its settings from, for the rows that have a grid.

        The keys are dataset/protocol/row, the values the configurations of the recorded search, or 0 without one.
        """
        if self.config.tune:
            return {}
        places = [(place, row) for place in self.places for row in self.rows(place) if self.methods[row].grid]
        searches = {f"{place}/{row}": self.search(row, place) for place, row in places}
        return {name: 0 if search is None else search.configurations for name, search in searches.items()}

    def _settings(self, row: str, dataset: DatasetConfig) -> dict[str, Any]:
        """Return a row's settings, with the data set's normalisation and the run's factors where they name none."""
        method, module = self.methods[row], self.method_class(row)
        settings = method.settings | method.family_settings.get(dataset.family, {})
        if "normalise" in module.settings_type.model_fields and settings.get("normalise") is None:
            settings = settings | {"normalise": dataset.normalise}
        return with_factors(module, settings, self.config.factors)

    def epochs(self, row: str, dataset: str) -> Epochs | None:
        """Return when a row's training stops on a data set; None if the row is not trained by epochs."""
        return self.config.datasets[dataset].epochs.get(row) or self.methods[row].epochs

    def compiled_settings(self, row: str) -> dict[str, Any]:
        """Return the settings that a row's kernels are compiled with; no family's, as these compile the same."""
        return with_factors(self.method_class(row), self.methods[row].settings, self.config.factors)

    def grid(self, row: str) -> dict[str, list[Any]]:
        """Return the grid that is tried on the validation labels; it is empty if the run does not tune."""
        return self.methods[row].grid if self.config.tune else {}

    def seed_of_settings(self, row: str, place: Place, seed: int) -> int:
        """Return the seed that chooses the settings of a row: its own, or the first where all have the same split."""
        first = self.config.seeds[0]
        return first if self.grid(row) and load_protocol(place.protocol).fixed else seed

    @cached_property
    def scaled_rows(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Return module and settings of the rows whose growth is measured on the data set of `scaling`.

        The stage sets the number of factors where they are varied. The growth of an epoch's time is measured on labels
        alone, that of the time to score an image on features.
        """
        scaling = self.config.scaling
        if scaling is None:
            return {}
        dataset = _read_named(DatasetConfig, self.folder / "datasets", scaling.dataset, "scaling")
        measured = self._is_scored if "terms" in scaling.sizes else self._is_trained_on_labels
        return {
            row: (method.method, self._settings(row, dataset))
            for row, method in self.methods.items()
            if measured(row) and (scaling.methods is None or row in scaling.methods)
        }

    def _is_trained_on_labels(self, row: str) -> bool:
        """Return whether a row has epochs and factors, and needs neither image features nor word vectors."""
        module = self.method_class(row)
        has_factors = "factors" in module.settings_type.model_fields
        return self.methods[row].epochs is not None and has_factors and not module.needs & {"features", "words"}

    def _is_scored(self, row: str) -> bool:
        """Return whether a row scores images by their features alone."""
        module = self.method_class(row)
        return module.needs == {"features"} and not issubclass(module, Ensemble)

    def sweeps(self, place: Place) -> list[tuple[str, str]]:
        """Return each (row, setting) that is varied at a place."""
        rows = self.rows(place)
        return [(row, parameter) for row, sweep in self.config.sweeps.items() if row in rows for parameter in sweep]


def _check_metrics(config: RunConfig, where: str) -> None:
    """Check the names of metrics; settings are chosen by a metric of an image's ranks."""
    for name in config.metrics:
        try:
            load_metric(name)
        except UserError as error:
            raise UserError(f"{where}: metrics: {error}") from None
    if not any(isinstance(load_metric(name), RankMetric) for name in config.metrics):
        raise UserError(f"{where}: metrics: name at least one of an image's ranks, such as map or recall@10")
    if config.validation_metric is not None:
        try:
            metric = load_metric(config.validation_metric)
        except UserError as error:
            raise UserError(f"{where}: validation_metric: {error}") from None
        if not isinstance(metric, RankMetric) or metric.lower_is_better:
            raise UserError(
                f"{where}: validation_metric: {config.validation_metric} cannot choose settings; use ndcg@10 or map"
            )


def _typed(value: Any) -> Any:
    """Parse values from the command line as in a YAML file; Snakemake leaves `true` and numbers in lists as text."""
    match value:
        case dict():
            return {key: _typed(inner) for key, inner in value.items()}
        case list():
            return [_typed(inner) for inner in value]
        case str():
            try:
                return yaml.safe_load(value)
            except yaml.YAMLError:
                return value
    return value


def _method(row: str, config: RunConfig, folder: Path, where: str) -> MethodConfig:
    """Read a row, with the epochs and the grid that the run gives it."""
    method: MethodConfig = _read_named(MethodConfig, folder / "methods", row, where)
    replaced = {"epochs": config.epochs.get(row), "grid": config.grids.get(row)}
    return method.model_copy(update={key: value for key, value in replaced.items() if value is not None})


def _papers(config: RunConfig, folder: Path, where: str) -> list[Paper]:
    """Read the papers that a run names, or all in alphabetical order."""
    files = {path.stem: path for path in sorted((folder / "papers").glob("[a-z]*.yaml"))}
    names = list(files) if config.papers is None else config.papers
    for name in names:
        if name not in files:
            raise UserError(
                f"{where}: papers: {name!r} has no file in {folder / 'papers'}; there are {', '.join(files)}"
            )
    # Relative, since the path is a parameter of rules: a moved folder reruns nothing.
    return [Paper.read(Path(os.path.relpath(files[name]))) for name in names]


def _check_lists(config: RunConfig, where: str) -> None:
    """Refuse duplicates, which would count twice in the results."""
    lists: dict[str, list[Any]] = {"methods": config.methods, "seeds": config.seeds, "metrics": config.metrics}
    lists |= {f"datasets.{name}.protocols": list(entry.protocols) for name, entry in config.datasets.items()}
    lists |= {f"decisions.{name}": rows for name, rows in config.decisions.items()}
    lists |= dict(_chosen_rows(config))
    for key, values in lists.items():
        twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
        if twice:
            raise UserError(f"{where}: {key}: {twice[0]!r} is there more than once")
    if min(config.seeds) < 0:
        raise UserError(f"{where}: seeds: {min(config.seeds)} is negative")


def _check_chosen_rows(config: RunConfig, where: str) -> None:
    """Check that the rows named for a data set, or for one of its protocols, are rows of the run."""
    for key, rows in _chosen_rows(config):
        for row in rows:
            if row not in config.methods:
                raise UserError(f"{where}: {key}: {row} is not among the run's methods; add it there")
    for name, entry in config.datasets.items():
        for protocol in entry.protocol_methods:
            if protocol not in entry.protocols:
                key = f"datasets.{name}.protocol_methods"
                raise UserError(f"{where}: {key}: {protocol} is not among the data set's protocols; add it there")


def _chosen_rows(config: RunConfig) -> Iterator[tuple[str, list[str]]]:
    """Yield each key that names rows for a data set or one of its protocols, with the rows."""
    for name, entry in config.datasets.items():
        yield f"datasets.{name}.methods", entry.methods or []
        for protocol, rows in entry.protocol_methods.items():
            yield f"datasets.{name}.protocol_methods.{protocol}", rows


def _check_protocols(config: RunConfig, where: str) -> None:
    """Check the names of protocols."""
    for name, entry in config.datasets.items():
        for protocol in entry.protocols:
            try:
                load_protocol(protocol)
            except UserError as error:
                raise UserError(f"{where}: datasets.{name}.protocols: {error}") from None
        for source in _sources(entry.protocols):
            if source not in config.datasets or source == name:
                key = f"{where}: datasets.{name}.protocols: {FROM}{source}"
                raise UserError(f"{key}: {source!r} is no other data set of the run; add it under `datasets`")


def _sources(protocols: list[str]) -> list[str]:
    """Return the data sets that protocols train on in place of the tested one."""
    return [source for source in map(source_of, protocols) if source is not None]


def _dataset(name: str, entry: RunDataset, folder: Path, where: str) -> DatasetConfig:
    """Return a data set's description: the named file's, or the run's own where it has a table in `data`."""
    check(Vocabulary, entry.vocabulary, f"{where}: datasets.{name}.vocabulary")
    config: DatasetConfig = (
        _read_named(DatasetConfig, folder / "datasets", name, where)
        if entry.data is None
        else _own_table(name, entry.data, folder, where)
    )
    config = config.model_copy(update={"options": _with_included(config.options, folder)})
    replaced = config.replaced(entry.options, entry.vocabulary)
    return replaced if entry.words is None else replaced.model_copy(update={"words": entry.words})


def _with_included(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return options in which files that come with the project are named as seen from the current folder."""
    included = {
        key: os.path.relpath(folder.parent / value)
        for key, value in options.items()
        if isinstance(value, str) and value.startswith(INCLUDED)
    }
    return options | included


def _own_table(name: str, data: dict[str, Any], folder: Path, where: str) -> DatasetConfig:
    """Return the description of a user's own table: options of `formats/table.py`, and `beside` them."""
    _check_name(DATASET_NAME, "datasets", name, where)
    if (folder / "datasets" / f"{name}.yaml").is_file():
        raise UserError(f"{where}: datasets.{name}: {folder}/datasets has a data set of this name; take another one")
    key = f"{where}: datasets.{name}.data"
    beside = {name for name in ("features", "normalise", "siblings", "words", "pictures") if name in data}
    options = check(table.Options, {option: value for option, value in data.items() if option not in beside}, key)
    description = {
        "title": name,
        "family": "other",
        "adapter": "table",
        "options": options.model_dump(exclude_unset=True),
        "licence": "the user's own",
        "citation": options.pairs,
    }
    return check(DatasetConfig, description | {option: data[option] for option in beside}, key)


def _check_network(dataset: DatasetConfig, network: Network, key: str) -> None:
    """Check that the user's own files are there, and the package that runs the network."""
    if not (dataset.downloads(network.model) or Path(network.model).is_file()):
        raise UserError(f"{key}.model: there is no file {network.model} (seen from {Path.cwd()})")
    if not (dataset.downloads(network.images) or Path(network.images).exists()):
        raise UserError(f"{key}.images: there is no file or folder {network.images} (seen from {Path.cwd()})")
    if find_spec(ONNX) is None:
        raise UserError(f"{key}: {missing_package(ONNX)}")


def _siblings(
    datasets: dict[str, DatasetConfig], config: RunConfig, folder: Path, where: str
) -> dict[str, SiblingsConfig]:
    """Return where the parents of labels are from, of the data sets that say so."""
    found = {}
    for name, dataset in datasets.items():
        own = config.datasets[name].data is not None
        key = f"{where}: datasets.{name}.data.siblings" if own else f"{folder}/datasets/{name}.yaml: siblings"
        if dataset.siblings is not None:
            found[name] = _parents(dataset.siblings, folder, key)
    return found


def _parents(source: str, folder: Path, key: str) -> SiblingsConfig:
    """Return a source of parents: a file of config/siblings by its name, or the user's own table by its path."""
    if not re.fullmatch(DATASET_NAME, source):
        options = check(parent_table.Options, {"parents": source}, key)
        if not Path(source).is_file():
            raise UserError(f"{key}: there is no file {source} (seen from {Path.cwd()})")
        about = {"title": source, "licence": "the user's own", "citation": source}
        described = {"adapter": "parent_table", "options": options.model_dump(exclude_unset=True)}
        return check(SiblingsConfig, about | described, key)
    path = folder / "siblings" / f"{source}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UserError(f"{key}: {source!r} has no file {path}; there are {known}, or name a table such as parents.csv")
    config: SiblingsConfig = read_config(SiblingsConfig, path)
    adapter = load_adapter(config.adapter, str(path), "read_parents")
    check(adapter.Options, config.options, f"{path}: options")
    return config


def _words(datasets: dict[str, DatasetConfig], config: RunConfig, folder: Path, where: str) -> dict[str, WordsConfig]:
    """Return where the vectors of words are from, of the data sets that say so."""
    found = {}
    for name, dataset in datasets.items():
        entry = config.datasets[name]
        key = f"{folder}/datasets/{name}.yaml: words"
        if entry.words is not None or entry.data is not None:
            key = f"{where}: datasets.{name}{'.words' if entry.words is not None else '.data.words'}"
        if dataset.words is not None:
            found[name] = _source_of_words(dataset.words, folder, key)
    return found


def _source_of_words(source: str, folder: Path, key: str) -> WordsConfig:
    """Return a file of config/words by its name."""
    path = folder / "words" / f"{source}.yaml"
    if not re.fullmatch(DATASET_NAME, source) or not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UserError(f"{key}: {source!r} has no file {path}; there are {known}")
    config: WordsConfig = read_config(WordsConfig, path)
    adapter = load_adapter(config.adapter, str(path), "read_vectors")
    check(adapter.Options, config.options, f"{path}: options")
    if config.own_file is not None and not Path(config.own_file).is_file():
        raise UserError(f"{path}: options.file: there is no file {config.own_file} (seen from {Path.cwd()})")
    return config


def _chosen(datasets: dict[str, DatasetConfig], folder: Path) -> dict[str, ChosenSettings]:
    """Read the recorded searches of the data sets that have some."""
    files = {name: folder / "chosen" / f"{name}.yaml" for name in datasets}
    found = {name: read_config(ChosenSettings, path) for name, path in files.items() if path.is_file()}
    return {
        name: chosen.model_copy(update={"options": _with_included(chosen.options, folder)})
        for name, chosen in found.items()
    }


def _is_of_grid(settings: dict[str, Any], own: dict[str, Any], grid: dict[str, list[Any]]) -> bool:
    """Return whether settings are a row's own, with values of its grid."""
    allowed = {key: grid.get(key, [value]) for key, value in own.items()}
    return settings.keys() == allowed.keys() and all(value in allowed[key] for key, value in settings.items())


def _check_name(pattern: str, key: str, name: str, where: str) -> None:
    """Raise a `UserError` for a name that cannot be the name of a folder."""
    if not re.fullmatch(pattern, name) or name == RESERVED:
        raise UserError(f"{where}: {key}: {name!r} cannot be a name; use {pattern}, but not {RESERVED!r}")


def _read_named(model: Any, folder: Path, name: str, where: str) -> Any:
    _check_name(DATASET_NAME if model is DatasetConfig else ROW_NAME, folder.name, name, where)
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise UserError(f"{where}: {folder.name}: {name!r} has no file {path}; there are {known}")
    return read_config(model, path)


def _check_keys(file: Path) -> None:
    """Check the keys of one file, so that an error names the file that contains the key."""
    values = read_yaml(file) or {}
    if not isinstance(values, dict):
        raise UserError(f"{file}: the whole file: should be a list of keys and values")
    for key in values:
        if key not in RunConfig.model_fields:
            raise UserError(f"{file}: {key}: unknown key; known are {', '.join(RunConfig.model_fields)}")
