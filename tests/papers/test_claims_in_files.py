"""The claims in the papers' files, and mistakes in such a file."""

from pathlib import Path

import pytest

from vsebench.config.method import read_method_config
from vsebench.core.errors import UserError
from vsebench.core.tasks import Entry
from vsebench.core.yaml_files import read_yaml
from vsebench.methods.base import load_method
from vsebench.papers.base import Paper
from vsebench.papers.claim import ClaimTest
from vsebench.papers.verdicts import known_tests, load_test, read_claims
from vsebench.plan import read_plan
from vsebench.plan.settings import not_tuned

PAPERS = sorted((Path(__file__).parents[2] / "config" / "papers").glob("*.yaml"))
METHODS = Path(__file__).parents[2] / "config" / "methods"
DECISIONS = METHODS.parent / "decisions"


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_the_claims_of_the_papers_name_what_exists(path):
    for claim in read_claims(Paper.read(path)):
        for entry in map(Entry.of, (*claim.test.variants_read(), *getattr(claim.test, "rivals", []))):
            assert (METHODS / f"{entry.variant}.yaml").is_file()
            assert not entry.decision or (DECISIONS / f"{entry.decision}.yaml").is_file()
        if hasattr(claim.test, "parameter"):
            module = read_method_config(METHODS / f"{claim.test.method}.yaml").method
            assert claim.test.parameter in load_method(module).settings_type.model_fields


def test_defaults_are_parameters_of_the_claims_whose_test_has_them(tmp_path):
    claims = [
        "{claim: a, where: w, test: memory, method: m, rivals: [x]}",
        "{claim: b, where: w, test: memory, method: m, rivals: [x], families: [flickr]}",
        "{claim: c, where: w, test: untested, method: m, reason: r}",
    ]
    keys = f"title: P, citation: c, claim_defaults: {{families: [iapr]}}, claims: [{', '.join(claims)}]"
    (tmp_path / "p.yaml").write_text(f"{{{keys}}}")
    tests = [claim.test.model_dump() for claim in read_claims(Paper.read(tmp_path / "p.yaml"))]
    assert [test.get("families") for test in tests] == [["iapr"], ["flickr"], None]


@pytest.mark.parametrize("name", known_tests())
def test_every_test_says_what_its_effect_is(name):
    test = load_test(name, "here")
    assert issubclass(test, ClaimTest)
    assert test.effect


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("{where: w, test: memory}", "claim 1: claim: this key is missing; add it"),
        ("{claim: c, where: w, test: guess}", "claim 1: test: there is no test 'guess'; the tests are "),
        ("{claim: c, where: w, test: memory, method: m}", "claim 1: families: this key is missing; add it"),
        (
            "{claim: c, where: w, test: growth, method: m, variable: pairs, between: [0.0, 1.0], rivals: [x]}",
            "claim 1: rivals: unknown key",
        ),
        (
            "{claim: c, where: w, test: accuracy, method: m, families: [iapr], rivals: [x], metrics: [rec@10]}",
            "claim 1: metrics.0: there is no metric 'rec@10'",
        ),
    ],
)
def test_a_mistake_names_file_claim_and_key(tmp_path, claim, message):
    (tmp_path / "p.yaml").write_text(f"{{title: P, citation: c, claims: [{claim}]}}")
    with pytest.raises(UserError) as error:
        read_claims(Paper.read(tmp_path / "p.yaml"))
    assert str(error.value).startswith(f"{tmp_path}/p.yaml: {message}")


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_every_claim_quotes_its_sentence(path):
    assert [claim.text.claim for claim in read_claims(Paper.read(path)) if not claim.text.quotation] == []


MEMORY = "test: memory, method: m, where: w"


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ("families: [iapr], rivals: [x, y]", "families: [iapr, nuswide], rivals: [y]", True),
        ("families: [iapr], rivals: [x]", "families: [iapr], rivals: [y]", False),
        ("families: [iapr], rivals: [x]", "families: [nuswide], rivals: [x]", False),
        ("families: [iapr], rivals: [x]", "families: [iapr], rivals: [x], only_simulated: true", False),
        (
            "families: [iapr], rivals: [x], judge_simulated: true",
            "families: [iapr], rivals: [x], only_simulated: true",
            True,
        ),
        ("families: [iapr], rivals: [x], protocols: [regions]", "families: [iapr], rivals: [x]", True),
        ("families: [iapr], rivals: [x], named: [a]", "families: [iapr], rivals: [x], named: [b]", False),
    ],
)
def test_equal_tests_of_two_claims_are_refused(tmp_path, first, second, equal):
    claims = ", ".join(f"{{claim: c{n}, {MEMORY}, {keys}}}" for n, keys in enumerate((first, second)))
    (tmp_path / "p.yaml").write_text(f"{{title: P, citation: c, claims: [{claims}]}}")
    if not equal:
        assert len(read_claims(Paper.read(tmp_path / "p.yaml"))) == 2
        return
    with pytest.raises(UserError, match=r"p\.yaml: claim 2: makes the same test as claim 1; remove one of the two"):
        read_claims(Paper.read(tmp_path / "p.yaml"))


def test_every_method_that_the_tagging_claims_compare_on_real_data_was_searched_there():
    plan = read_plan(METHODS.parent, read_yaml(METHODS.parent / "tagging.yaml"), [])
    (path,) = (path for path in PAPERS if path.stem in plan.config.papers)
    compared = {
        (protocol, method)
        for test in (claim.test for claim in read_claims(Paper.read(path)) if not claim.text.no_verdict)
        for protocol in getattr(test, "protocols", [])
        for method in (*test.variants_read(), *getattr(test, "rivals", []))
    }
    searches = [(name.split("/"), search) for name, search in not_tuned(plan).items()]
    places = [
        (place, search["configurations"])
        for place, search in searches
        if (place[1], place[2]) in compared and plan.datasets[place[0]].adapter != "simulated_tags"
    ]
    assert {place[1] for place, _ in places} >= {"official", "unseen_labels"}
    assert [(place, tried) for place, tried in places if tried < plan.config.tuning_budget] == []
