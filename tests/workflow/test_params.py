"""What makes the params of rules."""

import re
from pathlib import Path

RULES = Path(__file__).parents[2] / "workflow" / "rules"


def test_no_param_is_made_of_a_jobs_input():
    """Snakemake does not notice when a param has changed whose function takes the job's input."""
    found = [
        name for file in RULES.glob("*.smk") for name in re.findall(r"def (\w+)\(wildcards, \w+\)", file.read_text())
    ]
    assert found == []
