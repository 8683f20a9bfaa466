"""Analyse fitted models: only the variants named in tables, figures or claims of papers."""

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
        "python -m vsebench stage analyse {wildcards.analysis} --results results --processed data/processed {params.options}"
        " --out {output} > {log} 2>&1"
