"""Decisions of a run: which variants get them, and mistakes."""

import pytest
import yaml

from tests.plan.runs import planned, values
from vsebench.core.errors import UserError
from vsebench.plan.checks import left_out_lines
from vsebench.plan.jobs.results import not_compared
from vsebench.plan.plan import NO_DECISIONS

DECIDED = {
    "datasets": {"sim-features": {"protocols": ["images"], "refit": False}},
    "methods": ["ridge", "popularity"],
    "decisions": {"threshold": ["ridge", "popularity"], "label_count": ["ridge"]},
    "metrics": ["map", "exact_match", "macro_f1@5"],
    "papers": [],
}


def decided(**changes):
    return planned(**DECIDED | {"sweeps": {}} | changes)


def test_a_run_states_which_variants_get_which_decisions():
    plan = decided()
    (task,) = plan.tasks
    assert [str(entry) for entry in plan.decided(task)] == [
        "ridge/threshold", "ridge/label_count", "popularity/threshold",
    ]  # fmt: skip
    assert plan.outline.metrics == ["map", "macro_f1@5"]
    assert plan.outline.decision_metrics == ["exact_match"]
    assert plan.outline.decided == [task]
    assert "decisions-sim-features-images" in plan.tables


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"methods": ["popularity"]}, ["popularity/threshold"]),
        ({"metrics": ["map"]}, []),
        ({"decisions": {}, "metrics": ["map"]}, []),
    ],
)
def test_decisions_of_variants_that_the_run_lacks_or_that_nothing_measures_are_left_out(changes, expected):
    plan = decided(**changes)
    assert [str(entry) for task in plan.tasks for entry in plan.decided(task)] == expected


def test_no_decision_is_made_where_the_models_learn_the_validation_images():
    plan = decided(datasets={"sim-features": {"protocols": ["images"]}})
    assert plan.decided(plan.tasks[0]) == []
    assert left_out_lines(plan) == [f"Left out of sim-features/images: decisions: {NO_DECISIONS}."]


def test_decisions_are_made_where_test_images_are_new():
    both = {"sim-features": {"protocols": ["images", "distinct"], "refit": False}}
    plan = decided(datasets=both, methods=["popularity"], decisions={"top_k": ["popularity"]})
    assert [len(plan.decided(task)) for task in plan.tasks] == [1, 0]
    assert plan.outline.decided == plan.tasks[:1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decisions": {"treshold": ["ridge"]}}, "decisions: 'treshold' has no file"),
        ({"decisions": {"threshold": ["lsp"]}}, "decisions.threshold: methods: 'lsp' has no file"),
        ({"decisions": {"threshold": ["ridge", "ridge"]}}, "decisions.threshold: 'ridge' occurs more than once"),
        ({"decisions": {"own": ["ridge"]}}, "decisions.own: ridge learns no thresholds; name another method"),
        ({"decisions": {}}, "metrics: exact_match measures the label sets that decisions choose, but the run has no"),
        ({"metrics": ["exact_match"]}, "metrics: name at least one metric of an image's ranks"),
    ],
)
def test_mistakes_about_decisions_name_the_key(changes, message):
    with pytest.raises(UserError) as error:
        decided(**changes)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tuned_for": "map"}, "threshold.yaml: tuned_for: name a metric of label sets that measures quality"),
        ({"tuned_for": "set_size"}, "threshold.yaml: tuned_for: name a metric of label sets"),
        ({"tuned_for": None}, "threshold.yaml: tuned_for: name a metric of label sets"),
        (
            {"decision": "calibrated", "settings": {}},
            "threshold.yaml: tuned_for: Calibrated is not tuned for a metric; remove this key",
        ),
        ({"tuned_for": "f9"}, "threshold.yaml: there is no metric 'f9'"),
        ({"decision": "treshold"}, "threshold.yaml: there is no decision 'treshold'"),
        ({"settings": {"steps": 0}}, "threshold.yaml: settings: steps: Input should be greater than or equal to 2"),
    ],
)
def test_a_mistake_in_the_file_of_a_decision_names_it(folder, changes, message):
    path = folder / "decisions" / "threshold.yaml"
    path.write_text(yaml.safe_dump(values(path) | changes))
    with pytest.raises(UserError) as error:
        planned(folder=folder, **DECIDED | {"sweeps": {}})
    assert message in str(error.value)


def test_the_best_possible_label_sets_are_known_where_the_label_distribution_is():
    datasets = {
        name: {"protocols": ["official"], "refit": False} for name in ("sim-catalogue", "sim-independent", "sim-tree")
    }
    decisions = {"score_above_0": ["oracle"], "best_exact_match": ["oracle"]}
    plan = decided(datasets=datasets, methods=["popularity", "oracle"], decisions=decisions)
    assert [len(plan.decided(task)) for task in plan.tasks] == [2, 2, 1]
    assert all(entry.variant == "oracle" for task in plan.tasks for entry in not_compared(plan, task))
