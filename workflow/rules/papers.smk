"""The papers: compare their numbers with ours, test their claims, and audit their printed numbers.

The papers' YAML files are parameters, not inputs, and each rule has only the parts that it reads. So an edited claim
reruns the tests but no table, and a comment reruns nothing.
"""

from vsebench.papers.audit.checking import MODULES as CHECKS

PAPERS = [str(paper.path) for paper in PLAN.papers]
PRINTED = [str(paper.numbers) for paper in PLAN.papers]


rule compare:
    input:
        sources("stages.compare"),
        "results/summary.parquet",
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        PRINTED,
    output:
        "results/comparison.csv",
    log:
        "results/logs/comparison.log",
    params:
        papers=PAPERS,
        facts=[paper.facts for paper in PLAN.papers],
    shell:
        "python -m vsebench compare --papers {params.papers:q} --results results --out {output} > {log} 2>&1"


rule test_claims:
    input:
        unpack(job_inputs("test_claims")),
    output:
        "results/claims.csv",
    log:
        "results/logs/claims.log",
    params:
        papers=PAPERS,
        claims=job_content("test_claims"),
        options=job_options("test_claims"),
    shell:
        "python -m vsebench claims --papers {params.papers:q} --results results {params.options} --out {output}"
        " > {log} 2>&1"


rule audit_papers:
    input:
        sources("stages.audit"),
        [os.path.relpath(path) for path in sources_of(*CHECKS.values())],
        PRINTED,
    output:
        "results/audit.csv",
    log:
        "results/logs/audit.log",
    params:
        papers=PAPERS,
        read=[paper.audited for paper in PLAN.papers],
    shell:
        "python -m vsebench audit --papers {params.papers:q} --out {output} > {log} 2>&1"


rule error_rates:
    """How often the claims' test finds a difference where there is none, and where there is one (docs/claims.md)."""
    input:
        sources("stages.error_rates"),
    output:
        csv="results/error-rates.csv",
        markdown="results/error-rates.md",
    log:
        "results/logs/error-rates.log",
    shell:
        "python -m vsebench error_rates --comparisons 4000 --out {output.csv} > {log} 2>&1"


for name in (name for name, table in PLAN.tables.items() if table.paper):

    rule:
        name:
            name
        input:
            expand(
                "results/tables/{name}.{suffix}",
                name=name,
                suffix=["csv", "md", "tex"],
            ),


for name in (name for name, figure in PLAN.figures.items() if figure.paper):

    rule:
        name:
            name
        input:
            expand("figures/{name}.{suffix}", name=name, suffix=["pdf", "svg", "png"]),
