"""The papers: compare their numbers with ours, test their claims, and audit their printed numbers.

The papers' YAML files are not inputs; the parts that a rule reads are its params. So after an edit of a claim, only the
tests of claims run again; after an edit of a comment, no job does.
"""

from vsebench.papers.audit.checking import MODULES as CHECKS

PAPERS = [str(paper.path) for paper in PLAN.papers]
PRINTED = [str(paper.numbers) for paper in PLAN.papers]


rule compare_with_papers:
    input:
        sources("vsebench.stages.compare_with_papers"),
        "results/summary.parquet",
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        "results/settings.json",
        PRINTED,
    output:
        csv="results/comparison.csv",
        checksum="results/comparison.csv.json",
    log:
        "results/logs/comparison.log",
    params:
        papers=PAPERS,
        facts=[paper.facts for paper in PLAN.papers],
    shell:
        "python -m vsebench stage compare_with_papers --papers {params.papers:q} --results results --out {output.csv}"
        " > {log} 2>&1"


rule test_claims:
    input:
        unpack(job_inputs("test_claims")),
    output:
        csv="results/claims.csv",
        checksum="results/claims.csv.json",
    log:
        "results/logs/claims.log",
    params:
        papers=PAPERS,
        claims=job_content("test_claims"),
        options=job_options("test_claims"),
    shell:
        "python -m vsebench stage claims --papers {params.papers:q} --results results {params.options} --out {output.csv}"
        " > {log} 2>&1"


rule audit_papers:
    input:
        sources("vsebench.stages.audit"),
        sources(*CHECKS.values()),
        PRINTED,
    output:
        csv="results/audit.csv",
        checksum="results/audit.csv.json",
    log:
        "results/logs/audit.log",
    params:
        papers=PAPERS,
        read=[paper.audited for paper in PLAN.papers],
    shell:
        "python -m vsebench stage audit --papers {params.papers:q} --out {output.csv} > {log} 2>&1"


rule error_rates:
    """Simulate how often the test of claims finds a difference, with and without a true difference (docs/claims.md)."""
    input:
        sources("vsebench.stages.error_rates"),
    output:
        csv="results/error-rates.csv",
        markdown="results/error-rates.md",
        pooled=multiext("results/error-rates-pooled", ".csv", ".md"),
    log:
        "results/logs/error-rates.log",
    shell:
        "python -m vsebench stage error_rates --tasks 4000 --out {output.csv} > {log} 2>&1"


for instances, files_of in ((PLAN.tables, table_files), (PLAN.figures, figure_files)):
    for name in (name for name, instance in instances.items() if instance.paper):

        rule:
            name:
                name
            input:
                files_of([name]),
