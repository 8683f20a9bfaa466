"""Analyses of fitted models, made only if a table, a figure or a claim of a paper reads them, of the variants that it names."""

from vsebench.evaluation.analyses import known_analyses


rule analyse:
    input:
        unpack(job_inputs("analyse")),
    output:
        "results/{analysis}.parquet",
    log:
        "results/logs/{analysis}.log",
    wildcard_constraints:
        analysis="|".join(known_analyses()),
    params:
        options=job_options("analyse"),
    shell:
        "python -m vsebench analyse {wildcards.analysis} --results results --processed data/processed {params.options}"
        " --out {output} > {log} 2>&1"
