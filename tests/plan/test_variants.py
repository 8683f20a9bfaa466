"""Which variants run where, and what is left out with a reason."""

import pytest

from tests.plan.runs import CONFIG, ENSEMBLE, IAPR, ONE, default, partitioned, planned, with_variants
from vsebench.core.errors import UserError
from vsebench.core.tasks import Task
from vsebench.data.needs import NEEDS
from vsebench.plan import read_plan
from vsebench.plan.checks import left_out_lines
from vsebench.plan.jobs.data import joined_features, joined_tasks
from vsebench.plan.settings import settings_of


def test_a_data_set_gets_the_variants_that_the_run_names_for_it():
    plan = read_plan(CONFIG, with_variants(["popularity", "ridge"]), [])
    assert plan.variants(Task("corel5k-densehue", "official")) == ["ridge", "popularity"]
    assert plan.obstacles(Task("corel5k-densehue", "official")) == {}
    assert plan.variants(IAPR) == ["popularity"]


def test_a_protocol_can_have_variants_of_its_own():
    entry = {"protocols": ["official", "distinct"], "methods": ["ridge", "popularity"]}
    entry["protocol_methods"] = {"distinct": ["opt_auc", "popularity"]}
    values = default(datasets={"corel5k-densehue": entry}, papers=[], methods=["opt_auc", "popularity", "ridge"])
    plan = read_plan(CONFIG, values, [])
    assert plan.variants(Task("corel5k-densehue", "official")) == ["popularity", "ridge"]
    assert plan.variants(Task("corel5k-densehue", "distinct")) == ["opt_auc", "popularity"]


def test_a_variant_runs_where_the_task_offers_what_it_needs():
    plan = partitioned(methods=["opt_auc", "popularity", "oracle", "ridge"])
    official, distinct = Task("corel5k-densehue", "official"), Task("corel5k-densehue", "distinct")
    assert plan.variants(official) == ["popularity", "ridge"]
    assert plan.variants(distinct) == ["opt_auc", "popularity", "ridge"]
    assert plan.variants(IAPR) == ["opt_auc", "popularity", "oracle"]
    assert plan.timed_variants(distinct) == ["opt_auc", "ridge"]
    assert plan.oracles(IAPR) == ["oracle"]
    left_out = {(entry.dataset, entry.protocol, entry.method): entry.reason for entry in plan.outline.left_out}
    assert left_out == {
        ("corel5k-densehue", "official", "opt_auc"): NEEDS["known_labels"].missing_reason,
        ("corel5k-densehue", "official", "oracle"): NEEDS["truth"].missing_reason,
        ("corel5k-densehue", "distinct", "oracle"): NEEDS["truth"].missing_reason,
        ("sim-iapr", "distinct", "ridge"): NEEDS["features"].missing_reason,
    }


def test_an_ensemble_runs_like_any_variant():
    plan = partitioned(methods=[ENSEMBLE, "wsabie_100", "wsabie_200", "random"])
    task = Task("corel5k-densehue", "official")
    assert plan.timed_variants(task) == [ENSEMBLE, "wsabie_100", "wsabie_200"]
    assert settings_of(plan, ENSEMBLE, task.dataset) == {}
    assert plan.variants(IAPR) == ["random"]


def test_the_named_methods_are_timed_with_the_named_protocols_or_on_the_named_tasks():
    sets = {"sim-tree": {"protocols": ["official", "images"]}}
    official, images = "sim-tree/official", "sim-tree/images"

    def timed(**timing):
        changes = {
            "datasets": sets,
            "methods": ["ridge", "wsabie", "popularity"],
            "timing": {"repeats": 1, "epochs": 1} | timing,
        }
        plan = planned(**changes)
        assert plan.outline.timed == {str(task): plan.timed_variants(task) for task in plan.timed_tasks}
        return plan.outline.timed

    assert timed() == {official: ["ridge", "wsabie"], images: ["ridge", "wsabie"]}
    assert timed(protocols=["images"]) == {images: ["ridge", "wsabie"]}
    assert timed(protocols=[official], methods=["wsabie"]) == {official: ["wsabie"]}
    with pytest.raises(UserError, match=r"timing.protocols: the run has no protocol or task regions; remove regions"):
        timed(protocols=["official", "regions"])
    with pytest.raises(UserError, match=r"timing.methods: bce is not among the run's methods; add it to `methods`"):
        timed(methods=["ridge", "bce"])
    with pytest.raises(UserError, match=r"timing.methods: popularity is timed on no task"):
        timed(methods=["ridge", "popularity"])


def unseen_labels(protocols, variants, word_vectors="glove-6b", **changes):
    """A run on a data set with features and words, under protocols of unseen labels."""
    entry = (
        {"protocols": protocols} | ({"word_vectors": word_vectors} if word_vectors else {}) | changes.pop("entry", {})
    )
    rest = {"metrics": ["map"], "decisions": {}, "sweeps": {}, "papers": []} | changes
    return default(datasets={"corel5k-densehue": entry}, methods=variants, **rest)


def test_where_all_candidates_are_unseen_variants_run_that_know_labels_otherwise():
    variants = ["popularity", "ridge", "conse", "x_ent", "constant_direction", "random", "unseen_frequency"]
    protocols = ["official", "unseen_labels", "unseen_labels_all", "unseen_labels_by_frequency"]
    plan = read_plan(CONFIG, unseen_labels(protocols, variants), [])
    found = {name: plan.variants(Task("corel5k-densehue", name)) for name in protocols}
    for name in ("unseen_labels", "unseen_labels_by_frequency"):
        assert found[name] == variants[2:]
        assert plan.oracles(Task("corel5k-densehue", name)) == ["unseen_frequency"]
    assert found["official"] == variants[:-1]
    assert found["unseen_labels_all"] == variants
    assert left_out_lines(plan)[0].endswith(f"official: unseen_frequency: {NEEDS['test_labels'].missing_reason}.")
    assert left_out_lines(plan)[1].endswith(
        f"unseen_labels: popularity, ridge: {NEEDS['trained_labels'].missing_reason}."
    )


def test_unseen_labels_without_words_are_refused_in_one_line():
    with pytest.raises(UserError) as error:
        read_plan(CONFIG, unseen_labels(["unseen_labels"], ["random"], word_vectors=None), [])
    assert str(error.value) == (
        "the command line: datasets.corel5k-densehue.protocols: unseen_labels needs word vectors of the labels, but no "
        f"source is named; name a file in {CONFIG}/word_vectors under `word_vectors` of "
        "corel5k-densehue"
    )


def test_no_decision_is_taught_where_validation_asks_for_other_labels_than_the_test():
    changes = {"metrics": ["map", "exact_match"], "decisions": {"threshold": ["x_ent"]}, "entry": {"refit": False}}
    plan = read_plan(CONFIG, unseen_labels(["official", "unseen_labels"], ["x_ent"], **changes), [])
    assert [entry.variant for entry in plan.decided(Task("corel5k-densehue", "official"))] == ["x_ent"]
    assert plan.decided(Task("corel5k-densehue", "unseen_labels")) == []
    assert any("the validation labels of the task differ from its test labels" in line for line in left_out_lines(plan))


def test_a_variant_that_reads_the_test_labels_is_an_oracle(folder):
    path = folder / "methods" / "unseen_frequency.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("role: oracle", "role: control"), encoding="utf-8")
    with pytest.raises(UserError, match=r"unseen_frequency\.yaml: role: UnseenFrequency reads the test labels"):
        read_plan(folder, unseen_labels(["unseen_labels"], ["unseen_frequency"]), [])


def test_a_protocol_under_which_no_variant_can_run_is_left_out_and_said_so():
    chosen = {"sim-tags-rho05": {"protocols": ["official", "unseen_labels"]}}
    values = default(datasets=chosen, methods=["popularity"], decisions={}, sweeps={}, papers=[], metrics=["map"])
    plan = read_plan(CONFIG, values, [])
    assert plan.tasks == [Task("sim-tags-rho05", "official")]
    reason = NEEDS["trained_labels"].missing_reason
    assert f"Left out of sim-tags-rho05/unseen_labels: popularity: {reason}." in left_out_lines(plan)


def transfer(protocol="from-sim-features", **entries):
    """A run that trains on one data set and tests on another."""
    tested = {"protocols": [protocol], "word_vectors": "glove-6b"} | entries.pop("tested", {})
    trained = {"protocols": ["images"], "word_vectors": "glove-6b"} | entries.pop("trained", {})
    datasets = {"corel5k-densehue": tested, "sim-features": trained, "corel5k": ONE | {"word_vectors": "glove-6b"}}
    rest = {"metrics": ["map"], "decisions": {}, "sweeps": {}, "papers": []}
    return default(datasets=datasets, methods=["random", "conse", "ridge", "popularity", "oracle"], **rest)


def test_a_variant_runs_after_transfer_where_both_data_sets_have_what_it_needs():
    plan = read_plan(CONFIG, transfer(), [])
    task = Task("corel5k-densehue", "from-sim-features")
    assert plan.variants(task) == ["random", "conse", "ridge", "popularity"]
    assert joined_tasks(plan) == [task]
    assert joined_features(plan, task) == [
        "data/processed/corel5k-densehue/features.npy", "data/processed/sim-features/features.npy",
    ]  # fmt: skip
    assert "sim-features" in plan.outline.protocols["from-sim-features"]
    plan = read_plan(CONFIG, transfer("from-corel5k"), [])
    task = Task("corel5k-densehue", "from-corel5k")
    assert plan.variants(task) == ["random", "popularity"]  # corel5k has no features
    assert "given_labels" in plan.provides(task)
    assert "given_labels" not in plan.provides(Task("sim-features", "images"))
    assert joined_features(plan, task) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"protocol": "from-mirflickr38"},
            "'mirflickr38' is not another data set of the run; name one, or add one under `datasets`",
        ),
        ({"protocol": "from-corel5k-densehue"}, "'corel5k-densehue' is not another data set of the run"),
        ({"trained": {"word_vectors": None}}, "no source is named; name a file in"),
        (
            {"trained": {"word_vectors": "word2vec-news"}},
            "the word vectors are from glove-6b and word2vec-news; name the same file",
        ),
    ],
)
def test_mistakes_about_what_is_trained_on_name_the_key(changes, message):
    with pytest.raises(UserError) as error:
        read_plan(CONFIG, transfer(**changes), [])
    assert "datasets.corel5k-densehue.protocols: from-" in str(error.value)
    assert message in str(error.value)
