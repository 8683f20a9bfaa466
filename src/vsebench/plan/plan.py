"""What a run consists of: its data sets with their protocols, its methods, its papers, and what it shows of them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vsebench.config.dataset import DatasetConfig, SiblingsConfig, WordsConfig
from vsebench.config.method import ChosenSettings, DecisionConfig, MethodConfig
from vsebench.config.run import RunConfig
from vsebench.core.places import Entry, Place
from vsebench.data.needs import PlaceData, provided
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.decisions.base import load_decision
from vsebench.evaluation.metrics.base import ListMetric, is_of_decision, load_metric
from vsebench.formats.adapters import knows
from vsebench.methods.base import Fitter, load_method
from vsebench.papers.base import Paper
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
from vsebench.rendering.outline import GATHERED, LeftOut, MetricLeftOut, Outline, OutlineRow

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

    @cached_property
    def places(self) -> list[Place]:
        """Every data set with each of its protocols, where one of the run's rows can run there."""
        return [place for place in self.named_places if self.rows(place)]

    @property
    def named_places(self) -> list[Place]:
        """Return every data set with each of its protocols."""
        return [Place(name, protocol) for name, entry in self.config.datasets.items() for protocol in entry.protocols]

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

    def method_class(self, row: str) -> type[Fitter]:
        """Return the class of a row's method."""
        return load_method(self.methods[row].method)

    def chosen_rows(self, place: Place) -> list[str]:
        """Return the rows that the run wants at a place, in its order: all, or those that it names for it."""
        entry = self.config.datasets[place.dataset]
        named = entry.protocol_methods.get(place.protocol, entry.methods)
        return [row for row in self.methods if named is None or row in named]

    def rows(self, place: Place) -> list[str]:
        """Return the rows that run at a place."""
        left_out = self.obstacles(place)
        return [row for row in self.chosen_rows(place) if row not in left_out]

    def obstacles(self, place: Place) -> dict[str, str]:
        """Return the rows that cannot run at a place, and why."""
        present = self.provides(place)
        found = {row: self.method_class(row).obstacle(present) for row in self.chosen_rows(place)}
        return {row: reason for row, reason in found.items() if reason is not None}

    def oracles(self, place: Place) -> list[str]:
        """Return the rows of a place that are not compared with the others."""
        return [row for row in self.rows(place) if self.methods[row].role == "oracle"]

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

    def decisions_of(self, row: str, place: Place) -> list[str]:
        """Return the decisions that a row gets at a place: none where test images are known, a model is refit, or
        labels are unseen.

        One that needs the law of the labels is left out where that is not known.
        """
        if not load_protocol(place.protocol).new_images or self.obstacle_to_decisions(place):
            return []
        given = [name for name, rows in self.config.decisions.items() if row in rows]
        has_law = "law" in self.provides(place)
        return [name for name in given if has_law or "law" not in load_decision(self.decisions[name].decision).needs]

    def obstacle_to_decisions(self, place: Place) -> str | None:
        """Return why no decision can be taught at a place of new images, or None if it can."""
        if load_protocol(place.protocol).unseen:
            return NO_DECISIONS_OF_UNSEEN
        return NO_DECISIONS if self.config.datasets[place.dataset].refit else None

    def decided(self, place: Place) -> list[Entry]:
        """Return each row of a place with each of its decisions; none if the run has no metric of label sets."""
        if not any(map(is_of_decision, self.config.metrics)):
            return []
        return [Entry(row, name) for row in self.rows(place) for name in self.decisions_of(row, place)]

    @property
    def timed_places(self) -> list[Place]:
        """The places where methods are timed."""
        protocols = self.config.timing.protocols
        return [place for place in self.places if protocols is None or place.protocol in protocols]

    def sweeps(self, place: Place) -> list[tuple[str, str]]:
        """Return each (row, setting) that is varied at a place."""
        protocols = self.config.datasets[place.dataset].sweeps
        rows = self.rows(place) if protocols is None or place.protocol in protocols else []
        return [(row, parameter) for row, sweep in self.config.sweeps.items() if row in rows for parameter in sweep]

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


def source_datasets(protocols: list[str]) -> list[str]:
    """Return the data sets that protocols train on in place of the tested one."""
    return [source for source in map(source_of, protocols) if source is not None]
