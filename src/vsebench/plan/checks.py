"""Reject mistakes in a run's configuration before the first job, and list what the run leaves out."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vsebench.config.dataset import DatasetConfig, Network
from vsebench.config.method import MethodConfig
from vsebench.config.run import GROWTH, SIZED, RunConfig
from vsebench.core.errors import ONNX, UserError, did_you_mean, instead, missing_package, no_file
from vsebench.core.tasks import Entry, Task
from vsebench.core.yaml_files import check
from vsebench.data.needs import FEATURES
from vsebench.data.streams import LARGEST_SEED
from vsebench.evaluation.decisions.base import load_decision
from vsebench.evaluation.metrics.base import RankMetric, is_of_decision, load_metric
from vsebench.formats.adapters import knows, load_adapter
from vsebench.formats.scores_file import SUFFIXES
from vsebench.methods.base import Ensemble, Method, epochs_mistake, load_method, read_settings, with_factors
from vsebench.papers.audit.checking import choose
from vsebench.papers.audit.reading import read_audited
from vsebench.papers.base import Paper
from vsebench.papers.verdicts import read_claims
from vsebench.plan.files import names_in, read_named
from vsebench.plan.plan import NO_SIBLINGS, Plan, source_datasets
from vsebench.plan.settings import scaled_variants
from vsebench.protocols.base import FROM, load_protocol
from vsebench.rendering.kinds import FigureKind, TableKind, instances_of_paper


def check_plan(plan: Plan, where: str) -> None:
    """Check the data sets, variants and papers of a run; `where` names the configuration's files in messages."""
    check_data(plan, where)
    check_without(plan, where)
    check_packages_of_words(plan)
    # Before `check_settings`, which would report a wrong name under `epochs` as a mistake in a method's file.
    check_epochs(plan, where)
    check_settings(plan, where)
    check_scores(plan)
    check_commands(plan)
    check_members(plan, where)
    check_feature_sets(plan)
    check_grids(plan, where)
    check_decisions(plan, where)
    check_sweeps(plan, where)
    check_timing(plan, where)
    check_scaling(plan, where)
    check_lists_of_siblings(plan, where)
    check_papers(plan)
    check_tasks(plan, where)
    check_packs(plan, where)
    check_records(plan)


def check_without(plan: Plan, where: str) -> None:
    """Check that the run has each <data set>/<protocol>/<method> that the key `without` names."""
    chosen = [f"{task}/{variant}" for task in plan.named_tasks for variant in plan.chosen_variants(task)]
    for name in plan.config.without:
        if name not in chosen:
            nearest = did_you_mean(name, chosen)
            form = "<data set>/<protocol>/<method>"
            raise UserError(f"{where}: without: the run has no {name!r} ({form}); {nearest}remove this entry")


def check_config(config: RunConfig, where: str) -> None:
    """Check the parts of a run's configuration that can be checked without other files."""
    check_lists(config, where)
    check_protocols(config, where)
    check_chosen_variants(config, where)


@contextmanager
def naming(key: str) -> Iterator[None]:
    """Put a file or key in front of the message of a `UserError` that is raised in the `with` block."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{key}: {error}") from None


def check_data(plan: Plan, where: str) -> None:
    """Check the options of the data sets' adapters, and that the user's own files exist."""
    for name, dataset in plan.datasets.items():
        entry = plan.config.datasets[name]
        key = f"{where}: datasets.{name}.data" if entry.data is not None else f"{plan.folder}/datasets/{name}.yaml"
        separator = ": " if entry.data is None else "."
        replaced = f" (replaced by the run: {', '.join(entry.options)})" if entry.options else ""
        adapter = load_adapter(dataset.adapter, key)
        if entry.data is None:
            check(adapter.Options, dataset.options, f"{key}: options{replaced}")
        if dataset.adapter == "table" and "pairs" in entry.options:
            raise UserError(f"{where}: datasets.{name}.options.pairs: name the table in the data set's own file")
        check_features(plan, name, key, where)
        for name_of_file, path in dataset.own_files.items():
            if not Path(path).is_file():
                inside = name_of_file if entry.data is None else name_of_file.removeprefix("options.")
                raise UserError(f"{key}{separator}{inside}: {no_file(path)}")
        if dataset.pictures is not None and not dataset.pictures.path.exists():
            missing = no_file(dataset.pictures.images, "file or folder")
            raise UserError(f"{key}{separator}pictures.images: {missing}")
        if entry.unseen_labels is not None:
            inside = f"{where}: datasets.{name}.unseen_labels"
            if not Path(entry.unseen_labels).is_file():
                raise UserError(f"{inside}: there is no file {entry.unseen_labels} (in {Path.cwd()})")
            if not plan.drawing_unseen(name):
                raise UserError(f"{inside}: the data set has no protocol of unseen labels; add one, or remove this key")
        for set_name, network in dataset.networks.items():
            inside = f"features.{set_name}" if set_name else "features"
            check_network(dataset, network, f"{key}{separator}{inside}.network")


def check_packages_of_words(plan: Plan) -> None:
    """Check that the packages that compute word vectors of labels are installed, if the run needs them."""
    for name, source in plan.word_vectors.items():
        path = f"{plan.folder}/word_vectors/{plan.datasets[name].word_vectors}.yaml"
        for package in getattr(load_adapter(source.adapter, path, "read_vectors"), "PACKAGES", ()):
            if find_spec(package) is None:
                raise UserError(f"{path}: adapter: {source.adapter}: {missing_package(package)}")


def check_features(plan: Plan, name: str, key: str, where: str) -> None:
    """Check a data set's sets of features and their normalisation; `key` names the data set in messages."""
    dataset, entry = plan.datasets[name], plan.config.datasets[name]
    if dataset.features is not None and dataset.options.get("features"):
        remedy = "name it under `features` as well, as in `hue: {adapter: DenseHue}`"
        raise UserError(f"{key}: features: options.features names another set of features; {remedy}")
    if dataset.features is not None and knows(dataset.adapter):
        raise UserError(f"{key}: features: the simulator draws the features of simulated data; remove this key")
    for set_name, features in dataset.sets.items():
        if features.adapter is not None and dataset.features is not None:
            inside = f"{key}: features{f'.{set_name}' if set_name else ''}.adapter"
            options = load_adapter(dataset.adapter, key).Options
            check(options, dataset.options | {"features": features.adapter}, inside)
    if isinstance(dataset.normalise, Mapping):
        unknown = [other for other in dataset.normalise if other not in dataset.sets]
        if unknown:
            raise UserError(f"{key}: normalise: there are no features named {unknown[0]}; {sets_of(dataset)}")
    named = [entry.features] if isinstance(entry.features, str) else entry.features or []
    for other in named:
        if other not in dataset.sets:
            raise UserError(
                f"{where}: datasets.{name}.features: there are no features named {other}; {sets_of(dataset)}"
            )
    steps = dataset.steps(list(dataset.sets))
    for set_name, features in dataset.sets.items():
        if features.is_sparse and "standard" in (steps[set_name] if isinstance(steps, Mapping) else steps):
            raise UserError(f"{key}: normalise: 'standard' would make sparse features dense; leave it out")


def sets_of(dataset: DatasetConfig) -> str:
    """Return the end of an error message, which lists the names of a data set's sets of features."""
    names = [name for name in dataset.sets if name]
    return f"the names are {', '.join(names)}" if names else "the data set's features have no names"


def check_feature_sets(plan: Plan) -> None:
    """Check the sets of features that each method uses.

    Only a method that reads features can name sets of them. No method may use dense and sparse sets together. An
    ensemble and its members must use the same sets.
    """
    for variant, method in plan.methods.items():
        file = f"{plan.folder}/methods/{variant}.yaml: features"
        if method.features is not None and FEATURES.key not in plan.method_class(variant).needs:
            raise UserError(f"{file}: {plan.method_class(variant).__name__} reads no image features; remove this key")
        for task in plan.tasks:
            seen = plan.sets_seen([variant], task) if variant in plan.variants(task) else {}
            if len({Path(name).suffix for name in seen.values()}) > 1:
                remedy = f"name sets of one kind in {file}, or in the run's file: datasets.{task.dataset}.features"
                kinds = " and ".join(seen.values())
                raise UserError(f"{task}: {variant} uses dense and sparse features together ({kinds}); {remedy}")
            for member in method.members:
                if variant in plan.variants(task) and plan.sets_seen([member], task) != seen:
                    both = f"the ensemble and its member {member} use different sets of features"
                    raise UserError(f"{file}: {both}; name the same sets for both")


def check_settings(plan: Plan, where: str) -> None:
    """Check the settings of every variant, and every value in the variant's grid."""
    for variant, method in plan.methods.items():
        file = f"{plan.folder}/methods/{variant}.yaml"
        with naming(file):
            module = load_method(method.method)
        if issubclass(module, Method) != (method.epochs is not None):
            raise UserError(f"{file}: epochs: {epochs_mistake(module)}")
        if "test_labels" in module.needs and method.role != "oracle":
            raise UserError(f"{file}: role: {module.__name__} reads the test labels; set role: oracle")
        if issubclass(module, Ensemble) or method.members:
            continue  # `check_members` checks these
        families, grid = method.family_settings.items(), grid_key(plan, variant, where)
        changes: list[tuple[str, dict[str, Any]]] = [(f"{file}: settings", {})]
        changes += [(f"{file}: family_settings.{family}", values) for family, values in families]
        changes += [(grid, {key: value}) for key, values in method.grid.items() for value in values]
        for key, values in changes:
            changed = with_factors(module, method.settings | values, plan.config.factors)
            read_settings(module, changed, key)


def check_scores(plan: Plan) -> None:
    """Check the key `scores` of models that were trained elsewhere.

    If one seed of a task has a file of scores, all seeds of the task must have one.
    """
    for variant, method in plan.methods.items():
        if method.scores is None:
            continue
        key = f"{plan.folder}/methods/{variant}.yaml: scores"
        unknown = set(re.findall(r"\{(.*?)\}", method.scores)) - {"dataset", "protocol", "seed"}
        if unknown:
            raise UserError(f"{key}: {{{min(unknown)}}} is unknown; use {{dataset}}, {{protocol}} and {{seed}}")
        if Path(method.scores).suffix not in SUFFIXES:
            raise UserError(f"{key}: {method.scores}: use a file of one of the types {', '.join(SUFFIXES)}")
        for task in plan.tasks:
            for seed in plan.seeds(task, variant) if variant in plan.variants(task) else ():
                if not Path(file := plan.scores_file(variant, task, seed)).is_file():
                    raise UserError(
                        f"{key}: there is no file {file} (in {Path.cwd()}), but other seeds have one; add it"
                    )


def check_commands(plan: Plan) -> None:
    """Check the suffix of each command's file of scores, and that the files describing the command's software exist."""
    for variant, method in plan.commands.items():
        file = f"{plan.folder}/methods/{variant}.yaml"
        if method.written_suffix not in SUFFIXES:
            written = f"{{scores}}{method.written_suffix}"
            suffixes = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
            raise UserError(f"{file}: command: {written}: the name of a file of scores must end in {suffixes}")
        for key in ("environment", "conda"):
            named = getattr(method, key)
            is_file = named is not None and (key == "environment" or named.endswith((".yaml", ".yml")))
            if is_file and not (plan.root / named).is_file():
                raise UserError(f"{file}: {key}: {no_file(plan.root / named)}")
        if method.environment is not None:
            check_requirements(plan.root / method.environment)


def check_requirements(path: Path) -> None:
    """Check that all requirements are in one file, because an environment is made again only if this file changes."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if re.match(r"\s*(-r|-c|--requirement|--constraint)\b", line):
            remedy = "copy the lines of that file here"
            raise UserError(f"{path}: line {number}: changes of the named file would not be noticed; {remedy}")


def check_software(plan: Plan, deployed: Collection[str]) -> None:
    """Check that Snakemake deploys the software of commands; `deployed` lists the deployment methods in use."""
    for variant, method in plan.commands.items():
        for key, value in (("conda", "conda"), ("container", "apptainer")):
            if getattr(method, key) is not None and value not in deployed:
                raise UserError(
                    f"{plan.folder}/methods/{variant}.yaml: {key}: Snakemake deploys this software only with the "
                    f"option --software-deployment-method {value}; add the option"
                )


def check_members(plan: Plan, where: str) -> None:
    """Check that only ensembles name members, and that members are variants of the run whose scores can be added."""
    for variant, method in plan.methods.items():
        file, module = f"{plan.folder}/methods/{variant}.yaml", plan.method_class(variant)
        if not issubclass(module, Ensemble):
            if method.members:
                raise UserError(f"{file}: members: {module.__name__} is not an ensemble; remove this key")
            continue
        if len(set(method.members)) < max(2, len(method.members)):
            raise UserError(f"{file}: members: name two or more different methods")
        if method.settings or method.family_settings or method.grid:
            raise UserError(f"{file}: settings, family_settings, grid: an ensemble has none; remove these keys")
        for member in method.members:
            if member not in plan.methods:
                raise UserError(f"{where}: methods: {variant} is an ensemble of {member}, which is missing; add it")
            if not issubclass(plan.method_class(member), module.member_type):
                raise UserError(f"{file}: members: {module.__name__} cannot contain {member}; name other methods")
    for task in plan.tasks:
        variants = plan.variants(task)
        for variant in variants:
            for member in plan.methods[variant].members:
                if member not in variants:
                    key = f"{where}: datasets.{task.dataset}.methods"
                    raise UserError(f"{key}: {variant} is an ensemble of {member}, which is missing; add it")
                if len(plan.seeds(task, member)) < len(plan.seeds(task, variant)):
                    key = f"{where}: method_seeds.{member}"
                    raise UserError(f"{key}: its ensemble {variant} has more seeds; give both the same number")


def grid_key(plan: Plan, variant: str, where: str) -> str:
    """Return the file and the key that set a variant's grid, as text for error messages."""
    return (
        f"{where}: grids.{variant}" if variant in plan.config.grids else f"{plan.folder}/methods/{variant}.yaml: grid"
    )


def check_grids(plan: Plan, where: str) -> None:
    """Check that `grids` and `tune` name known variants, and that tuned grids have `tuning_budget` configurations."""
    for key, variants in (("grids", list(plan.config.grids)), ("tune", plan.config.tune)):
        for variant in variants if isinstance(variants, list) else ():
            if variant not in plan.methods:
                raise UserError(f"{where}: {key}: {variant} is not among the run's methods; add it to `methods`")
    for variant, method in plan.methods.items():
        if plan.config.tunes(variant) and method.grid and method.grid_size != plan.config.tuning_budget:
            raise UserError(
                f"{grid_key(plan, variant, where)}: the number of configurations is {method.grid_size}, but must be "
                f"{plan.config.tuning_budget} (tuning_budget) in every tuned grid"
            )


def check_epochs(plan: Plan, where: str) -> None:
    """Check that the variants named under `epochs` are trained in epochs."""
    for variant in plan.config.epochs.keys() - {"default"}:
        trained(plan, variant, f"{where}: epochs")
    for dataset, entry in plan.config.datasets.items():
        for variant in entry.epochs.keys() - {"default"}:
            trained(plan, variant, f"{where}: datasets.{dataset}.epochs")


def trained(plan: Plan, variant: str, where: str) -> MethodConfig:
    """Read a variant's file and check that the variant, which need not belong to the run, is trained in epochs."""
    method: MethodConfig = read_named(MethodConfig, plan.folder / "methods", variant, where)
    if not method.epochs:
        raise UserError(f"{where}: {variant} is not trained in epochs; remove it from this key")
    return method


def check_sweeps(plan: Plan, where: str) -> None:
    """Check the values of every setting that the run varies, and the grids that it searches at each of these values."""
    for variant in plan.config.sweep_grids.keys() - plan.config.sweeps.keys():
        raise UserError(f"{where}: sweep_grids: {variant} is not among the run's sweeps; add it to `sweeps`")
    for key, named in (("sweeps", plan.config.sweeps), ("sweep_grids", plan.config.sweep_grids)):
        for variant, settings in named.items():
            method = trained(plan, variant, f"{where}: {key}")
            module = load_method(method.method)
            for parameter, values in settings.items():
                for value in values:
                    changed = with_factors(module, method.settings | {parameter: value}, plan.config.factors)
                    read_settings(module, changed, f"{where}: {key}.{variant}")


def check_decisions(plan: Plan, where: str) -> None:
    """Check the settings of decisions, and the variants that are named for each decision.

    Each variant must have a file. If a decision needs thresholds, its variants must learn them. As in sweeps, variants
    that are not in the run are allowed, so that a user can shorten `methods` without changing any other key.
    """
    for name, decision in plan.decisions.items():
        file = f"{plan.folder}/decisions/{name}.yaml"
        for variant in plan.config.decisions[name]:
            read_named(MethodConfig, plan.folder / "methods", variant, f"{where}: decisions.{name}")
        with naming(file):
            kind = load_decision(decision.decision)
            tuned = decision.tuned_for is not None and is_of_decision(decision.tuned_for)
            judged = decision.tuned_for is None or load_metric(decision.tuned_for).is_quality
        check(kind.settings_type, decision.settings, f"{file}: settings")
        for variant in set(plan.config.decisions[name]) & set(plan.methods):
            if "thresholds" in kind.needs and "thresholds" not in plan.method_class(variant).gives:
                raise UserError(f"{where}: decisions.{name}: {variant} learns no thresholds; name another method")
        if kind.tunes and not (tuned and judged):
            raise UserError(
                f"{file}: tuned_for: name a metric of label sets that measures quality, such as macro_f1 or exact_match"
            )
        if not kind.tunes and decision.tuned_for is not None:
            raise UserError(f"{file}: tuned_for: {kind.__name__} is not tuned for a metric; remove this key")
    of_decisions = [name for name in plan.config.metrics if is_of_decision(name)]
    if of_decisions and not plan.decisions:
        raise UserError(
            f"{where}: metrics: {of_decisions[0]} measures the label sets that decisions choose, but the run has no "
            f"`decisions`; for the first labels of a ranking use {of_decisions[0]}@5"
        )


def check_timing(plan: Plan, where: str) -> None:
    """Check that the run has all protocols, tasks and methods under `timing`, and that it can time each method."""
    of_tasks = {name for task in plan.tasks for name in (task.protocol, str(task))}
    for name in plan.config.timing.protocols or ():
        if name not in of_tasks:
            raise UserError(f"{where}: timing.protocols: the run has no protocol or task {name}; remove {name}")
    for name in plan.config.timing.methods or ():
        if name not in plan.config.methods:
            raise UserError(f"{where}: timing.methods: {name} is not among the run's methods; add it to `methods`")
        if not any(name in plan.timed_variants(task) for task in plan.timed_tasks):
            why = "it has no settings or epochs to choose, or runs on no timed task"
            raise UserError(f"{where}: timing.methods: {name} is timed on no task ({why}); remove {name}")


def check_scaling(plan: Plan, where: str) -> None:
    """Check that the sizes under `scaling` can be varied, and that the methods named there can be timed."""
    scaling = plan.config.scaling
    if scaling is None:
        return
    config = read_named(DatasetConfig, plan.folder / "datasets", scaling.dataset, f"{where}: scaling")
    if config.adapter not in GROWTH:
        raise UserError(f"{where}: scaling.dataset: {scaling.dataset} is not simulated; name a simulated data set")
    if set(scaling.sizes) != set(GROWTH[config.adapter]):
        sizes = ", ".join(GROWTH[config.adapter])
        raise UserError(f"{where}: scaling: {scaling.dataset} has the sizes {sizes}; give exactly these")
    for key in SIZED[config.adapter]:
        if key in scaling.options:
            raise UserError(f"{where}: scaling.options.{key}: the sizes determine this option; remove this key")
    options = load_adapter(config.adapter, where).Options
    check(options, config.options | scaling.options, f"{where}: scaling.options")
    measured = scaled_variants(plan)
    for variant in scaling.methods or ():
        if variant not in measured:
            reason = "cannot be timed on this data set" if variant in plan.methods else "is not among the run's methods"
            raise UserError(f"{where}: scaling.methods: {variant} {reason}; remove it")


def check_tasks(plan: Plan, where: str) -> None:
    """Check that at least one variant can run on each data set, and that tasks with unseen labels have word vectors."""
    for task in plan.named_tasks:
        if load_protocol(task.protocol).unseen:
            check_word_vectors(plan, task, f"{where}: datasets.{task.dataset}.protocols: {task.protocol}")
        if task.dataset not in {possible.dataset for possible in plan.tasks}:
            reasons = "; ".join(f"{variant}: {reason}" for variant, reason in plan.obstacles(task).items())
            reasons = f"(under {task.protocol}: {reasons})"
            raise UserError(f"{where}: datasets.{task.dataset}: no method can run on this data set {reasons}")


def check_packs(plan: Plan, where: str) -> None:
    """Check that each pack has methods for at least one task of the run."""
    for pack in plan.packs.values():
        if not any(pack.methods(task, plan.task_seeds(task)) for task in plan.tasks):
            tasks = ", ".join(pack.manifest.tasks)
            raise UserError(f"{where}: with: {pack.path} has no methods for any task of the run; its tasks are {tasks}")


def check_records(plan: Plan) -> None:
    """Check the names of metrics in the recorded searches for settings."""
    for dataset, record in plan.chosen.items():
        path = plan.folder / "chosen" / f"{dataset}.yaml"
        for protocol, searches in record.protocols.items():
            for variant, search in searches.variants.items():
                with naming(f"{path}: protocols.{protocol}.variants.{variant}.spread"):
                    for name in search.spread:
                        load_metric(name)


def check_word_vectors(plan: Plan, task: Task, key: str) -> None:
    """Check that the data sets of a task with unseen labels name the same source of word vectors."""
    for name in [task.dataset, *source_datasets([task.protocol])]:
        if name not in plan.word_vectors:
            remedy = f"name a file in {plan.folder}/word_vectors under `word_vectors` of {name}"
            raise UserError(f"{key} needs word vectors of the labels, but no source is named; {remedy}")
        if plan.datasets[name].word_vectors != plan.datasets[task.dataset].word_vectors:
            sources = f"{plan.datasets[task.dataset].word_vectors} and {plan.datasets[name].word_vectors}"
            raise UserError(
                f"{key}: the word vectors are from {sources}; name the same file under `word_vectors` of both data sets"
            )


def check_lists_of_siblings(plan: Plan, where: str) -> None:
    """Check that at least one data set has siblings if a metric needs them."""
    if plan.list_metrics and not plan.siblings:
        raise UserError(
            f"{where}: metrics: {plan.list_metrics[0]}: no data set of the run has a source of siblings; "
            "name one under `siblings` in a data set's file"
        )


def check_papers(plan: Plan) -> None:
    """Check the papers' files."""
    for paper in plan.papers:
        check_names_in_paper(plan, paper)
        choose(paper.checks, f"{paper.path}: checks")
        instances_of_paper(TableKind, paper.path, paper.tables)
        instances_of_paper(FigureKind, paper.path, paper.figures)
    read_audited(plan.papers)


def check_names_in_paper(plan: Plan, paper: Paper) -> None:
    """Check that each method and data set named in a paper's file is known."""
    methods = {*names_in(plan.folder / "methods"), *(name for pack in plan.packs.values() for name in pack.variants)}
    datasets = {*names_in(plan.folder / "datasets"), *plan.datasets}
    for key, row in paper.rows.items():
        check_names_known(row.ours, methods, f"{paper.path}: rows.{key}: ours", "methods")
    for key, task in paper.tasks.items():
        check_names_known([task.dataset or ""], {"", *datasets}, f"{paper.path}: tasks.{key}: dataset", "datasets")
    for n, claim in enumerate(read_claims(paper), start=1):
        for key, names in claim.test.model_dump(include={"method", "rivals", "named"}).items():
            known, kind = (datasets | set(paper.tasks), "datasets") if key == "named" else (methods, "methods")
            where = f"{paper.path}: claim {n}: {key}"
            check_names_known([names] if isinstance(names, str) else names or [], known, where, kind)


def check_names_known(names: Iterable[str], known: Collection[str], where: str, kind: str) -> None:
    """Raise a `UserError` for a name that is not known.

    A method can be followed by a decision, as in <method>/<decision>. Only the method is checked.
    """
    for name in names:
        variant = Entry.of(name).variant
        if variant not in known:
            raise UserError(f"{where}: there is no {variant!r}; {instead(variant, known, kind)}")


def check_metrics(config: RunConfig, where: str) -> None:
    """Check the metrics: at least one of them, and `validation_metric`, must be a metric of an image's ranks."""
    for name in config.metrics:
        with naming(f"{where}: metrics"):
            load_metric(name)
    if not any(isinstance(load_metric(name), RankMetric) for name in config.metrics):
        raise UserError(f"{where}: metrics: name at least one metric of an image's ranks, such as map or recall@10")
    if config.validation_metric is not None:
        with naming(f"{where}: validation_metric"):
            metric = load_metric(config.validation_metric)
        if not isinstance(metric, RankMetric) or metric.lower_is_better:
            raise UserError(
                f"{where}: validation_metric: {config.validation_metric} cannot choose settings; use ndcg@10 or map"
            )


def check_lists(config: RunConfig, where: str) -> None:
    """Reject mistakes in seeds, and lists with duplicates, which would count twice in the results."""
    lists: dict[str, list[Any]] = {"methods": config.methods, "seeds": config.seeds, "metrics": config.metrics}
    lists |= {f"datasets.{name}.protocols": list(entry.protocols) for name, entry in config.datasets.items()}
    lists |= {f"decisions.{name}": variants for name, variants in config.decisions.items()}
    lists |= dict(chosen_variants(config))
    lists |= {f"protocol_seeds.{name}": seeds for name, seeds in config.protocol_seeds.items()}
    for key, values in lists.items():
        twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
        if twice:
            raise UserError(f"{where}: {key}: {twice[0]!r} occurs more than once; name it only once")
    check_seeds(config, where)


def check_seeds(config: RunConfig, where: str) -> None:
    """Check all seeds, and that the methods, protocols and tasks with seeds of their own belong to the run.

    Some results are for a single seed, the first seed of the run. The seeds of every task must therefore begin with
    this seed. If a method has fewer seeds than its task, they are the first seeds of the task. Some tests of claims
    pair seeds by position. With `protocol_seeds` or `method_seeds`, seeds must therefore be in ascending order.
    """
    tasks = [Task(name, protocol) for name, entry in config.datasets.items() for protocol in entry.protocols]
    places = {name for task in tasks for name in (task.protocol, str(task))}
    for name, seeds in ({"": config.seeds} | config.protocol_seeds).items():
        key = f"{where}: protocol_seeds.{name}" if name else f"{where}: seeds"
        if min(seeds) < 0:
            raise UserError(f"{key}: {min(seeds)} is negative; use seeds of 0 or more")
        if max(seeds) > LARGEST_SEED:
            raise UserError(f"{key}: {max(seeds)} is too large; use seeds up to {LARGEST_SEED}")
        if name and name not in places:
            raise UserError(f"{key}: the run has no protocol or task {name}; remove this key")
        if name and seeds[0] != config.seeds[0]:
            raise UserError(f"{key}: the first seed must be {config.seeds[0]}, the run's first seed")
        if (config.protocol_seeds or config.method_seeds) and seeds != sorted(seeds):
            raise UserError(f"{key}: with protocol_seeds or method_seeds, seeds must be in ascending order")
    most = max(map(len, [config.seeds, *config.protocol_seeds.values()]))
    for variant, number in config.method_seeds.items():
        key = f"{where}: method_seeds.{variant}"
        if variant not in (*config.methods, "default"):
            raise UserError(f"{key}: {variant} is not among the run's methods; add it to `methods`")
        if number >= most and (variant == "default" or "default" not in config.method_seeds):
            raise UserError(f"{key}: no task has more than {most} seeds, so this key has no effect; remove it")


def check_chosen_variants(config: RunConfig, where: str) -> None:
    """Check that variants named for a data set belong to the run, and that protocols belong to the data set."""
    for key, variants in chosen_variants(config):
        for variant in variants:
            if variant not in config.methods:
                raise UserError(f"{where}: {key}: {variant} is not among the run's methods; add it to `methods`")
    for name, entry in config.datasets.items():
        for key, protocols in (("protocol_methods", list(entry.protocol_methods)), ("sweeps", entry.sweeps or [])):
            for protocol in protocols:
                if protocol not in entry.protocols:
                    missing = f"{protocol} is not among the data set's protocols; add it to `protocols`"
                    raise UserError(f"{where}: datasets.{name}.{key}: {missing}")


def chosen_variants(config: RunConfig) -> Iterator[tuple[str, list[str]]]:
    """Yield (key, variants) for each key that names variants for a data set or for one of its protocols."""
    for name, entry in config.datasets.items():
        yield f"datasets.{name}.methods", entry.methods or []
        for protocol, variants in entry.protocol_methods.items():
            yield f"datasets.{name}.protocol_methods.{protocol}", variants


def check_protocols(config: RunConfig, where: str) -> None:
    """Check the names of protocols, and that each data set named in `from-<data set>` belongs to the run."""
    for name, entry in config.datasets.items():
        for protocol in entry.protocols:
            with naming(f"{where}: datasets.{name}.protocols"):
                load_protocol(protocol)
        for source in source_datasets(entry.protocols):
            if source not in config.datasets or source == name:
                key = f"{where}: datasets.{name}.protocols: {FROM}{source}"
                raise UserError(
                    f"{key}: {source!r} is not another data set of the run; name one, or add one under `datasets`"
                )


def check_network(dataset: DatasetConfig, network: Network, key: str) -> None:
    """Check that a network's files exist or are downloaded, and that the package that runs networks is installed."""
    if not (dataset.downloads(network.model) or Path(network.model).is_file()):
        raise UserError(f"{key}.model: {no_file(network.model)}")
    if not (dataset.downloads(network.images) or Path(network.images).exists()):
        raise UserError(f"{key}.images: {no_file(network.images, 'file or folder')}")
    if find_spec(ONNX) is None:
        raise UserError(f"{key}: {missing_package(ONNX)}")


def few_seeds(plan: Plan) -> list[str]:
    """Return a list with a warning if a run has too few seeds to show how results vary, otherwise an empty list."""
    return [f"Warning: {plan.name}: seeds: {warning}"] if (warning := plan.outline.few_seeds) else []


def left_out_lines(plan: Plan) -> list[str]:
    """Return lines that state which methods, decisions and metrics are left out of which task, and why."""
    lines = []
    for task in plan.named_tasks:
        obstacles = plan.obstacles(task) | (plan.packs_left_out(task) if task in plan.tasks else {})
        for reason in dict.fromkeys(obstacles.values()):
            variants = ", ".join(variant for variant in obstacles if obstacles[variant] == reason)
            lines.append(f"Left out of {task}: {variants}: {reason}.")
        with_decisions = {variant for variants in plan.config.decisions.values() for variant in variants}
        obstacle = plan.obstacle_to_decisions(task)
        if with_decisions & set(plan.variants(task)) and load_protocol(task.protocol).new_images and obstacle:
            lines.append(f"Left out of {task}: decisions: {obstacle}.")
        if missing := plan.missing_metrics(task):
            lines.append(f"Left out of {task}: {', '.join(missing)}: {NO_SIBLINGS}.")
    return lines
