"""What a run consists of: its configuration, data sets and methods, read and checked before the first job starts."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vsebench.config.dataset import DatasetConfig, SiblingsConfig, WordsConfig
from vsebench.config.method import ChosenSettings, DecisionConfig, Epochs, MethodConfig, Search
from vsebench.config.run import RunConfig
from vsebench.core.places import Entry, Place
from vsebench.core.yaml_files import check
from vsebench.data.needs import PlaceData, provided
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.decisions.base import load_decision
from vsebench.evaluation.metrics.base import ListMetric, RankMetric, is_of_decision, load_metric
from vsebench.formats.adapters import knows, load_adapter
from vsebench.methods.base import Ensemble, Fitter, load_method, with_factors
from vsebench.papers.base import Paper
from vsebench.papers.verdicts import read_claims
from vsebench.plan.checks import check_config, check_metrics, check_plan, source_datasets
from vsebench.plan.files import (
    check_keys,
    read_chosen,
    read_dataset,
    read_method,
    read_named,
    read_papers_of,
    read_siblings,
    read_words,
    typed,
)
from vsebench.protocols.base import FROM, load_protocol, source_of
from vsebench.rendering.kinds import (
    FigureKind,
    Instance,
    TableKind,
    instances_of_paper,
    instances_of_run,
    kinds_of_paper,
)
from vsebench.rendering.outline import GATHERED, LeftOut, MetricLeftOut, Outline, OutlineRow

FEATURES = "data/features"  # in a folder per data set, what the stage `features` makes
NO_DECISIONS = "the models learn the validation images, unless the data set has refit: false"
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
            check_keys(file)
        where = " + ".join([*map(str, files), *(["--config"] if overridden else [])]) or "the command line"
        config = check(RunConfig, values | {key: typed(values[key]) for key in overridden}, where)
        check_config(config, where)
        datasets = {name: read_dataset(name, entry, folder, where) for name, entry in config.datasets.items()}
        methods = {name: read_method(name, config, folder, where) for name in config.methods}
        check_metrics(config, where)
        siblings = read_siblings(datasets, config, folder, where)
        words = read_words(datasets, config, folder, where)
        decisions = {name: read_named(DecisionConfig, folder / "decisions", name, where) for name in config.decisions}
        papers = read_papers_of(config, folder, where)
        chosen = read_chosen(datasets, folder)
        name = " + ".join(file.name for file in files)
        plan = cls(folder, name, config, datasets, methods, papers, siblings, words, decisions, chosen)
        check_plan(plan, where)
        return plan

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
        if "features" not in self.provides(place):
            return []
        names = [place.dataset, *source_datasets([place.protocol])]
        return [f"data/processed/{name}/{self.datasets[name].features_name}" for name in names]

    def processed_files(self, dataset: str) -> list[str]:
        """Return the files that the stage `prepare` writes."""
        config = self.datasets[dataset]
        features = [config.features_name] if config.features_name else []
        truth = ["truth.npz"] if knows(config.adapter) else []
        return ["pairs.parquet", "images.parquet", "labels.parquet", "summary.json", *features, *truth]

    def processed(self, place: Place) -> str:
        """Return the folder that a place is split from: the data set's, or that of the two that are joined."""
        source = source_of(place.protocol)
        return f"data/processed/{place.dataset}" + (f"/{FROM}{source}" if source else "")

    def data_of(self, place: Place) -> PlaceData:
        """Return what is known of a place's data before it is read."""
        dataset, rules = self.datasets[place.dataset], load_protocol(place.protocol)
        sources = [dataset, *(self.datasets[name] for name in source_datasets([place.protocol]))]
        return PlaceData(
            processed=self.processed(place),
            tested=f"data/processed/{place.dataset}",
            features_name=dataset.features_name if all(source.features_name for source in sources) else None,
            has_words=place.dataset in self.words,
            is_joined=source_of(place.protocol) is not None,
            new_images=rules.new_images,
            unseen=rules.unseen,
            only_unseen=rules.only_unseen,
            simulated=knows(dataset.adapter),
        )

    def provides(self, place: Place) -> set[str]:
        """Return which of the needs of methods a place satisfies (keys of `needs.NEEDS`)."""
        return provided(self.data_of(place))

    def obstacles(self, place: Place) -> dict[str, str]:
        """Return the rows that cannot run at a place, and why."""
        present = self.provides(place)
        found = {row: self.method_class(row).obstacle(present) for row in self.chosen_rows(place)}
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
        makes = {"scaling": self.config.scaling is not None, "sweeps": any(map(self.sweeps, self.places))}
        makes |= {"words": bool(self.words), "cold": bool(self.cold_places)}
        makes |= {name: bool(self.rows_read(name)) for name in known_analyses()}
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
        """Return the rows at all places, as dataset/protocol/row, that an analysis is made of.

        Those with a decision are named as dataset/protocol/row/decision.
        """
        wanted = self._analysed_rows[name]
        return [
            f"{place}/{entry}"
            for place in self.places
            for entry in [*self.rows(place), *map(str, self.decided(place))]
            if entry in wanted
        ]

    @cached_property
    def _analysed_rows(self) -> dict[str, set[str]]:
        """The rows that each analysis is made of for the papers' claims, tables and figures."""
        wanted: dict[str, set[str]] = {name: set() for name in known_analyses()}
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
        has_law = "law" in self.provides(place)
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

    def beyond_edges(self, row: str, sweep: bool = False) -> int:
        """Return how many configurations are tried beyond the edges of a row's grid, or that at a value of a sweep."""
        if self.methods[row].stays_in_grid:
            return 0
        own = self.config.sweeps_beyond_edges if sweep else None
        return self.config.tuning_beyond_edges if own is None else own

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
        dataset = read_named(DatasetConfig, self.folder / "datasets", scaling.dataset, "scaling")
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
        protocols = self.config.datasets[place.dataset].sweeps
        rows = self.rows(place) if protocols is None or place.protocol in protocols else []
        return [(row, parameter) for row, sweep in self.config.sweeps.items() if row in rows for parameter in sweep]


def _is_of_grid(settings: dict[str, Any], own: dict[str, Any], grid: dict[str, list[Any]]) -> bool:
    """Return whether settings are a row's own, with values of its grid."""
    allowed = {key: grid.get(key, [value]) for key, value in own.items()}
    return settings.keys() == allowed.keys() and all(value in allowed[key] for key, value in settings.items())
