"""The params of rules."""

import re
from pathlib import Path

RULES = Path(__file__).parents[2] / "workflow" / "rules"


def test_no_param_is_made_of_a_jobs_input():
    """Snakemake does not notice changes of a param whose function takes the job's input."""
    text = "".join(file.read_text(encoding="utf-8") for file in RULES.glob("*.smk"))
    functions = re.findall(r"(?:lambda |def \w+\()(wildcards, .*?)[:)]", text)
    assert functions == ["wildcards, input, attempt"]  # of `memory`, which is a resource
