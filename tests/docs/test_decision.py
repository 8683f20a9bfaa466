"""The example in docs/decisions.md is two files, and its decision is chosen on validation images."""

from tests.docs.conftest import Copy

PROGRAM = """
import json, sys
import numpy as np
from pathlib import Path
from vsebench.config.method import DecisionConfig
from vsebench.core.yaml_files import read_config
from vsebench.evaluation.decisions.base import Labelled, Tuning, make_decision
config = read_config(DecisionConfig, Path("config/decisions/mean_score.yaml"))
rng = np.random.default_rng(1)
parts = []
for n in (300, 200, 100):
    scores = rng.normal(0, 1, (n, 10)).astype(np.float32)
    scores = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    parts.append(Labelled(scores, scores, right=scores > 1.03))
decision = make_decision(config.decision, Tuning(config.tuned_for, 1), config.settings, "here")
print(json.dumps([decision.fit(*parts[:2]), bool((decision.decide(parts[2]) == parts[2].right).mean() > 0.98)]))
"""


def test_the_example_finds_a_planted_multiple(copy: Copy) -> None:
    done = copy.python(PROGRAM, None)
    assert done.returncode == 0, done.stderr
    assert done.stdout in ('[{"multiple": 1.0}, true]\n', '[{"multiple": 1.1}, true]\n')
