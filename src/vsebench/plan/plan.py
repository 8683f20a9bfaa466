"""The plan of a run: the data sets, protocols, methods and papers of the run, and its tables and figures."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vsebench.config.dataset import DatasetConfig, SiblingsConfig, WordVectorsConfig
from vsebench.config.method import ChosenSettings, DecisionConfig, MethodConfig
from vsebench.config.run import RunConfig
from vsebench.core.storage import features_file
from vsebench.core.tasks import Case, Entry, Task
from vsebench.data.needs import FEATURES, TRUTH, TaskData, provided
from vsebench.evaluation.analyses import known_analyses
from vsebench.evaluation.decisions.base import load_decision
from vsebench.evaluation.metrics.base import ListMetric, is_of_decision, load_metric
from vsebench.formats.adapters import knows
from vsebench.methods.base import Fitter, load_method
from vsebench.papers.base import Paper
from vsebench.papers.claim import ClaimTest
from vsebench.papers.comparison import compared_tables
from vsebench.papers.verdicts import read_claims
from vsebench.plan.packs import NamedPack
from vsebench.protocols.base import FROM, load_protocol, source_of
from vsebench.rendering.kinds import (
    FigureKind,
    Instance,
    TableKind,
    instances_of_paper,
    instances_of_run,
    kinds_of_paper,
)
from vsebench.rendering.outline import GATHERED, LeftOut, MetricLeftOut, Outline, OutlineVariant

NO_DECISIONS = "they need validation images that no model is trained on; set refit: false for the data set"
NO_DECISIONS_OF_UNSEEN = "the validation labels of the task differ from its test labels"
NO_SIBLINGS = "the data set has no source of siblings"
NONE_IN_COMMON = "the two data sets have no features with the same name"


@dataclass(frozen=True)
class Plan:
    """The configuration of a run, of its data sets and of its methods."""

    folder: Path  # folder of the configuration files
    name: str  # name of the run's configuration file
    config: RunConfig
    datasets: dict[str, DatasetConfig]
    methods: dict[str, MethodConfig]
    papers: list[Paper]
    siblings: dict[str, SiblingsConfig]  # for data sets with a source of their labels' parents
    word_vectors: dict[str, WordVectorsConfig]  # for data sets with a source of word vectors
    decisions: dict[str, DecisionConfig]
    chosen: dict[str, ChosenSettings]  # for data sets with recorded searches for settings
    packs: dict[str, NamedPack] = field(default_factory=dict)  # packs of other runs
    # The result of `obstacles` for each task, which is kept because hundreds of jobs ask for it.
    _obstacles: dict[Task, dict[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks on which at least one of the run's variants can run."""
        return [task for task in self.named_tasks if self.variants(task)]

    @property
    def named_tasks(self) -> list[Task]:
        """All tasks that the run names: every data set with each of its protocols."""
        return [Task(name, protocol) for name, entry in self.config.datasets.items() for protocol in entry.protocols]

    def processed(self, task: Task) -> str:
        """Return the folder with the processed data of a task.

        The data come from one data set, or from two data sets that have been joined.
        """
        source = source_of(task.protocol)
        return f"data/processed/{task.dataset}" + (f"/{FROM}{source}" if source else "")

    def drawing_unseen(self, dataset: str) -> list[str]:
        """Return the protocols of a data set under which some of its own labels are unseen.

        These labels are drawn at random, or the run names them.
        """
        protocols = self.config.datasets[dataset].protocols
        return [name for name in protocols if load_protocol(name).unseen and not source_of(name)]

    def sources(self, task: Task) -> list[DatasetConfig]:
        """Return the data sets of a task: the tested one and, if it differs, the one on which methods are trained."""
        return [self.datasets[name] for name in [task.dataset, *source_datasets([task.protocol])]]

    def feature_files(self, task: Task) -> dict[str, str]:
        """Return the files of the sets of features that all data sets of a task have, by the names of the sets.

        The files are named relative to the folder `processed(task)`.
        """
        tested, *others = (dataset.sets for dataset in self.sources(task))
        return {
            name: features_file(name, features.is_sparse)
            for name, features in tested.items()
            if all(name in other for other in others)
        }

    def sets_named(self, variant: str, dataset: str) -> list[str] | None:
        """Return the sets of features that a variant's file names, or else those that the run names for the data set.

        The result is None if no sets are named.
        """
        named = self.methods[variant].features or self.config.datasets[dataset].features
        return [named] if isinstance(named, str) else named

    def sets_seen(self, variants: Iterable[str], task: Task) -> dict[str, str]:
        """Return the files of the sets of features that at least one variant uses, by the names of the sets.

        The sets are in the order of the data set. A variant that reads features uses the sets that are named for it or,
        if none is named, all sets.
        """
        files, seen = self.feature_files(task), set[str]()
        for variant in variants:
            if self.method_class(variant).needs & {FEATURES.key, TRUTH.key}:
                named = self.sets_named(variant, task.dataset)
                seen.update(files if named is None else named)
        return {name: file for name, file in files.items() if name in seen}

    def data_of(self, task: Task, variants: Iterable[str] | None = None) -> TaskData:
        """Return the properties of a task's data that are known before the data are read.

        With `variants`, only the sets of features that these variants use are included.
        """
        dataset, rules = self.datasets[task.dataset], load_protocol(task.protocol)
        return TaskData(
            processed=self.processed(task),
            tested=f"data/processed/{task.dataset}",
            features=self.feature_files(task) if variants is None else self.sets_seen(variants, task),
            has_word_vectors=task.dataset in self.word_vectors,
            is_joined=source_of(task.protocol) is not None,
            new_images=rules.new_images,
            unseen=rules.unseen,
            only_unseen=rules.only_unseen,
            simulated=knows(dataset.adapter),
        )

    def provides(self, task: Task) -> set[str]:
        """Return the inputs of methods (keys of `needs.NEEDS`) that a task has."""
        return provided(self.data_of(task))

    def method_class(self, variant: str) -> type[Fitter]:
        """Return the class of a variant's method."""
        return load_method(self.methods[variant].method)

    def chosen_variants(self, task: Task) -> list[str]:
        """Return the variants that the run names for a task, even if they cannot run there, in the run's order."""
        entry = self.config.datasets[task.dataset]
        named = entry.protocol_methods.get(task.protocol, entry.methods)
        return [variant for variant in self.methods if named is None or variant in named]

    def variants(self, task: Task) -> list[str]:
        """Return the variants that can run on a task, in the order in which the run names them."""
        left_out = self.obstacles(task)
        return [variant for variant in self.chosen_variants(task) if variant not in left_out]

    def seeds(self, task: Task, *variants: str) -> list[int]:
        """Return the task's seeds with which all `variants` are fitted; without `variants`, all seeds of the task."""
        own = self.config.protocol_seeds
        of_task = own.get(str(task), own.get(task.protocol, self.config.seeds))
        given = self.config.method_seeds
        most = given.get("default", len(of_task))
        return of_task[: min((given.get(variant, most) for variant in variants), default=len(of_task))]

    def task_seeds(self, task: Task) -> list[int]:
        """Return the seeds with which at least one variant is fitted on a task."""
        return max((self.seeds(task, variant) for variant in self.variants(task)), key=len)

    def own_seeds(self, tasks: Iterable[Task], default: list[int]) -> dict[str, list[int]]:
        """Map dataset/protocol/variant to its seeds, for variants whose seeds differ from `default`."""
        seeds = {f"{task}/{name}": self.seeds(task, name) for task in tasks for name in self.variants(task)}
        return {name: own for name, own in seeds.items() if own != default}

    def timed_seeds(self, task: Task) -> list[int]:
        """Return the seed of each repeat of the timing.

        In a repeat, all timed variants use the split and the settings of its seed.
        """
        seeds = self.seeds(task, *self.timed_variants(task))
        return [seeds[repeat % len(seeds)] for repeat in range(self.config.timing.repeats)]

    def obstacles(self, task: Task) -> dict[str, str]:
        """Return the variants that cannot run on a task, each with the reason."""
        if task not in self._obstacles:
            self._obstacles[task] = self._find_obstacles(task)
        return self._obstacles[task]

    def _find_obstacles(self, task: Task) -> dict[str, str]:
        present = self.provides(task)
        reasons = {
            variant: self.config.without.get(f"{task}/{variant}")
            or self.missing_features(variant, task)
            or self.method_class(variant).obstacle(present)
            or self.missing_scores(variant, task)
            for variant in self.chosen_variants(task)
        }
        return {variant: reason for variant, reason in reasons.items() if reason is not None}

    @property
    def commands(self) -> dict[str, MethodConfig]:
        """The variants that a command trains and scores."""
        return {variant: method for variant, method in self.methods.items() if method.command is not None}

    @property
    def root(self) -> Path:
        """The folder to which the paths in commands are relative: it contains the folder of the configuration files."""
        return self.folder.parent

    def missing_features(self, variant: str, task: Task) -> str | None:
        """Return why a variant cannot use the image features of a task; None if it can, or if it reads no features.

        The result is also None if a data set of the task has no features. `obstacles` gives another reason in this
        case.
        """
        files, named = self.feature_files(task), self.sets_named(variant, task.dataset) or []
        if FEATURES.key not in self.method_class(variant).needs:
            return None
        if not files and all(dataset.sets for dataset in self.sources(task)):
            return NONE_IN_COMMON
        missing = [name for name in named if name not in files]
        return f"the data set has no image features called {missing[0]}" if files and missing else None

    def scores_file(self, variant: str, task: Task, seed: int) -> str:
        """Return the path of the file with the scores of a variant that was trained elsewhere.

        The user names this file, or a command writes it.
        """
        method = self.methods[variant]
        if method.command is not None:
            return f"{Case(task, variant, seed).folder(Path('results'))}/scores{method.written_suffix}"
        names = {"dataset": task.dataset, "protocol": task.protocol, "seed": str(seed)}
        return re.sub(r"\{(\w+)\}", lambda match: names[match[1]], method.scores or "")

    def missing_scores(self, variant: str, task: Task) -> str | None:
        """Return why a variant cannot run on a task, if its key `scores` names only missing files; otherwise None."""
        if self.methods[variant].scores is None:
            return None
        files = dict.fromkeys(self.scores_file(variant, task, seed) for seed in self.seeds(task, variant))
        return None if any(Path(file).is_file() for file in files) else f"there is no file {next(iter(files))}"

    def packed(self, task: Task) -> dict[str, list[int]]:
        """Map the packs' methods that are shown on a task to their seeds.

        The keys have the form method@pack. Whether these methods were fitted on the splits of this run is checked
        later, by the stage `match_packs`.
        """
        left_out = self.packs_left_out(task)
        return {
            name: seeds
            for pack in self.packs.values()
            for name, seeds in pack.methods(task, self.task_seeds(task)).items()
            if name not in left_out
        }

    def packs_left_out(self, task: Task) -> dict[str, str]:
        """Return the methods of packs that are left out of a task, each with the reason."""
        return {
            name: reason
            for pack in self.packs.values()
            for name, seeds in pack.methods(task, self.task_seeds(task)).items()
            if (reason := pack.obstacle(self.config.metrics, seeds))
        }

    def oracles(self, task: Task) -> list[str]:
        """Return the oracles among the variants of a task, which are not compared with other methods."""
        return [variant for variant in self.variants(task) if self.methods[variant].role == "oracle"]

    @cached_property
    def cold_tasks(self) -> list[Task]:
        """The tasks in which some test images have training labels and others may have none."""
        return [task for task in self.tasks if load_protocol(task.protocol).leaves_cold]

    @property
    def list_metrics(self) -> list[str]:
        """The metrics of the run that need the siblings of labels."""
        return [name for name in self.config.metrics if isinstance(load_metric(name), ListMetric)]

    def missing_metrics(self, task: Task) -> list[str]:
        """Return the metrics that cannot be computed for a task because its data set has no source of siblings."""
        return [] if task.dataset in self.siblings else self.list_metrics

    def decisions_of(self, variant: str, task: Task) -> list[str]:
        """Return the decisions of a variant for a task.

        There are none if other labels of the test images are used in training, if models are also fitted to the
        validation labels, or if test labels are unseen in training. Decisions that need the label distribution are left
        out if it is not known.
        """
        if not load_protocol(task.protocol).new_images or self.obstacle_to_decisions(task):
            return []
        missing = {"label_distribution"} - self.provides(task)
        return [
            name
            for name, variants in self.config.decisions.items()
            if variant in variants and not missing & load_decision(self.decisions[name].decision).needs
        ]

    def obstacle_to_decisions(self, task: Task) -> str | None:
        """Return why no decision can be fitted for a task with new images; None if decisions can be fitted."""
        if load_protocol(task.protocol).unseen:
            return NO_DECISIONS_OF_UNSEEN
        return NO_DECISIONS if self.config.datasets[task.dataset].refit else None

    def decided(self, task: Task) -> list[Entry]:
        """Return each variant of a task with each of its decisions.

        The list is empty if the run has no metric of label sets.
        """
        if not any(map(is_of_decision, self.config.metrics)):
            return []
        return [Entry(variant, name) for variant in self.variants(task) for name in self.decisions_of(variant, task)]

    def is_validated(self, variant: str) -> bool:
        """Return whether a variant's epochs, settings or member weights are chosen on validation labels."""
        method = self.methods[variant]
        return bool(method.epochs or method.grid or method.members)

    def is_judged(self, test: ClaimTest, entries: Mapping[str, Collection[str]]) -> bool:
        """Return whether the run has a task with the method and the kind of data that the test of a claim needs.

        `entries` maps the name of each task, dataset/protocol, to the methods on this task.
        """
        on_simulated = test.on_simulated or test.judge_simulated or getattr(test, "only_simulated", False)
        for task in self.tasks:
            dataset = self.datasets[task.dataset]
            families = getattr(test, "families", None) or [dataset.family]
            of_kind = on_simulated if knows(dataset.adapter) else not getattr(test, "only_simulated", False)
            if test.method in entries[str(task)] and dataset.family in families and of_kind:
                return True
        return False

    @property
    def timed_tasks(self) -> list[Task]:
        """The tasks where methods are timed."""
        protocols, methods = self.config.timing.protocols, self.config.timing.methods
        tasks = [task for task in self.tasks if protocols is None or {task.protocol, str(task)} & set(protocols)]
        return [task for task in tasks if methods is None or self.timed_variants(task)]

    def timed_variants(self, task: Task) -> list[str]:
        """Return the variants to time on a task.

        They are the variants for which `is_validated` is true. If the run names methods under `timing`, all other
        variants are left out.
        """
        named = self.config.timing.methods
        validated = filter(self.is_validated, self.variants(task))
        return [variant for variant in validated if named is None or variant in named]

    def sweeps(self, task: Task) -> list[tuple[str, str]]:
        """Return the sweeps on a task, as pairs (variant, setting to vary)."""
        protocols = self.config.datasets[task.dataset].sweeps
        variants = self.variants(task) if protocols is None or task.protocol in protocols else []
        return [
            (variant, parameter)
            for variant, sweep in self.config.sweeps.items()
            if variant in variants
            for parameter in sweep
        ]

    @cached_property
    def outline(self) -> Outline:
        """The contents of the run, for tables, figures and the report."""
        makes = {"scaling": self.config.scaling is not None, "sweeps": any(map(self.sweeps, self.tasks))}
        makes |= {"word_vectors": bool(self.word_vectors), "cold": bool(self.cold_tasks)}
        makes |= {"decisions": any(map(self.decided, self.tasks))}
        makes |= {name: bool(self.variants_read(name)) for name in known_analyses()}
        protocols = {task.protocol: load_protocol(task.protocol).description for task in self.tasks}
        makes |= {"packs": any(map(self.packed, self.tasks))}
        entries = {
            str(task): [*self.variants(task), *self.packed(task), *map(str, self.decided(task))] for task in self.tasks
        }
        packed = {f"{task}/{name}": seeds for task in self.tasks for name, seeds in self.packed(task).items()}
        simulated = [name for name, dataset in self.datasets.items() if knows(dataset.adapter)]
        return Outline(
            configuration=self.name,
            tasks=self.tasks,
            variants={
                variant: OutlineVariant(
                    **method.model_dump(include=set(OutlineVariant.model_fields)), by_command=method.command is not None
                )
                for variant, method in self.methods.items()
            }
            | {name: variant for pack in self.packs.values() for name, variant in pack.variants.items()},
            protocols=protocols,
            seeds=self.config.seeds,
            own_seeds=self.own_seeds(self.tasks, self.config.seeds)
            | {name: seeds for name, seeds in packed.items() if seeds != self.config.seeds},
            metrics=[name for name in self.config.metrics if not is_of_decision(name)],
            decision_metrics=[name for name in self.config.metrics if is_of_decision(name)],
            decisions={
                name: OutlineVariant(**decision.model_dump(include=set(OutlineVariant.model_fields)))
                for name, decision in self.decisions.items()
            },
            decided=[task for task in self.tasks if self.decided(task)],
            left_out=[
                LeftOut(dataset=task.dataset, protocol=task.protocol, method=variant, reason=reason)
                for task in self.tasks
                for variant, reason in (self.obstacles(task) | self.packs_left_out(task)).items()
            ],
            metrics_left_out=[
                MetricLeftOut(dataset=task.dataset, protocol=task.protocol, metric=metric, reason=NO_SIBLINGS)
                for task in self.tasks
                for metric in self.missing_metrics(task)
            ],
            papers={paper.name: paper.title for paper in self.papers},
            files=[name for name in GATHERED if makes.get(name, True)],
            entries=entries,
            trained=[variant for variant, method in self.methods.items() if method.epochs],
            searching=[variant for variant in self.methods if "trials" in self.method_class(variant).gives],
            timed={str(task): self.timed_variants(task) for task in self.timed_tasks},
            simulated=simulated,
            judged=[
                paper.name
                for paper in self.papers
                if any(self.is_judged(claim.test, entries) for claim in read_claims(paper))
            ],
            compared={
                paper.name: compared_tables(paper, entries, self.config.metrics, simulated) for paper in self.papers
            },
        )

    @cached_property
    def tables(self) -> dict[str, Instance]:
        """The tables of the run and of its papers, by their names."""
        tables = instances_of_run(TableKind, self.outline)
        for paper in self.papers:
            tables |= instances_of_paper(TableKind, paper.path, paper.tables, self.outline)
        return tables

    @cached_property
    def figures(self) -> dict[str, Instance]:
        """The figures of the run and of its papers, by their names."""
        figures = instances_of_run(FigureKind, self.outline)
        for paper in self.papers:
            figures |= instances_of_paper(FigureKind, paper.path, paper.figures, self.outline)
        return figures

    def variants_read(self, name: str) -> list[str]:
        """Return the models that the analysis `name` covers.

        A model has the form dataset/protocol/variant, or dataset/protocol/variant/decision if a decision is applied.
        """
        analysed = self._analysed_variants[name]
        return [
            f"{task}/{entry}"
            for task in self.tasks
            for entry in [*self.variants(task), *map(str, self.decided(task))]
            if entry in analysed
        ]

    @cached_property
    def _analysed_variants(self) -> dict[str, set[str]]:
        """The variants that each analysis covers: those named in claims, tables or figures of papers."""
        analysed: dict[str, set[str]] = {name: set() for name in known_analyses()}
        for paper in self.papers:
            tests = [claim.test for claim in read_claims(paper)]
            kinds = kinds_of_paper(paper.path, paper.tables, paper.figures)
            for name, variants in analysed.items():
                variants.update(variant for test in tests if name in test.reads for variant in test.variants_read())
                variants.update(variant for kind in kinds if name in kind.needs for variant in kind.variants_read())
        return analysed


def source_datasets(protocols: list[str]) -> list[str]:
    """Return the data sets named in protocols of the form `from-<data set>`, on which methods are trained."""
    return [source for source in map(source_of, protocols) if source is not None]
