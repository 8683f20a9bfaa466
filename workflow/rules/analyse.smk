"""Analyses of fitted models, made only if a table, a figure or a claim of a paper reads them, of the rows that it names."""

from vsebench.evaluation.analyses import known_analyses
from vsebench.plan.analyses import analysis_inputs, analysis_options


rule analyse:
    input:
        lambda wildcards: sources(
            "stages.analyse", f"evaluation.analyses.{wildcards.analysis}"
        ),
        lambda wildcards: analysis_inputs(PLAN, wildcards.analysis),
    output:
        "results/{analysis}.parquet",
    log:
        "results/logs/{analysis}.log",
    wildcard_constraints:
        analysis="|".join(known_analyses()),
    params:
        cases=lambda wildcards: analysis_options(PLAN, wildcards.analysis),
    shell:
        "python -m vsebench analyse {wildcards.analysis} --results results --processed data/processed {params.cases}"
        " --out {output} > {log} 2>&1"
