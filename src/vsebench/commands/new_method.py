"""Write the files of a new method: a module, its settings, and a test that passes at once.

It is run in the folder of the repository and overwrites nothing.
"""

import argparse
from pathlib import Path

from vsebench.core.templates import write_new

MODULE = '''"""NAME: say here what a label's score is, and where that is from (paper, equation).

    score of b = sum over the image's labels a of n_ab / (n_a + smoothing)

n_ab images carry both labels, n_a images carry a.
"""

import numpy as np
from pydantic import Field

from vsebench.data.problem import Problem
from vsebench.kernels.cooccurrence import count_together
from vsebench.methods.base import Control, Settings
from vsebench.models import LabelWeights


class OwnSettings(Settings):
    """The settings: a type and a range each."""

    smoothing: float = Field(gt=0)  # images


class Own(Control):
    """A method without epochs; `Method` in its place is one that is trained epoch by epoch."""

    settings_type = OwnSettings
    needs = frozenset({"known_labels"})  # keys of `vsebench.data.needs.NEEDS`

    def __init__(self, problem: Problem, settings: OwnSettings) -> None:
        self.labels, self.settings = problem.training.labels, settings

    def model(self) -> LabelWeights:
        labels = self.labels
        together = count_together(labels.offsets, labels.label_of_pair, labels.n_labels)
        weight = together / (np.diag(together)[:, np.newaxis] + self.settings.smoothing)
        np.fill_diagonal(weight, 0.0)
        return LabelWeights(weight.astype(np.float32))


METHOD = Own
'''
CONFIG = """title: NAME
method: NAME  # the module
role: baseline  # or paper, control, oracle
source: where it is from
settings:
  smoothing: 1.0
grid:  # what a run with `tune: true` tries
  smoothing: [0.1, 1.0, 10.0, 100.0]
"""
TEST = '''"""NAME by hand."""

import numpy as np
from scipy import sparse

import vsebench


def test_the_label_beside_the_known_one_is_first():
    """Label 1 is on both images of label 0, label 2 on one; each image of label 0 weighs 1 / (2 + 1)."""
    matrix = sparse.csr_array(np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]]))
    new = sparse.csr_array(np.array([[1, 0, 0]]))
    labels, scores = vsebench.fit("NAME", matrix).annotate(labels=new, k=2)
    assert labels.tolist() == [[1, 2]]
    np.testing.assert_allclose(scores, [[2 / 3, 1 / 3]], rtol=1e-6)
'''
TEMPLATES = {
    "src/vsebench/methods/NAME.py": MODULE,
    "config/methods/NAME.yaml": CONFIG,
    "tests/methods/test_NAME.py": TEST,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("name", help="of the module and of the row: small letters, digits and _")


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    module, config, test = write_new(TEMPLATES, arguments.name, Path.cwd())
    print(f"{module}\n    the method: its score, its settings and what it needs")
    print(f"{config}\n    its title, its source, and the values of its settings")
    print(f"{test}\n    passes now: .venv/bin/pytest {test}")
    print(f"Then name {arguments.name} in a run's `methods`; docs/methods.md has the contract.")
