"""The papers: compare their numbers with ours, test their claims, and audit their printed numbers.

The papers' YAML files are parameters, not inputs, and each rule has only the parts that it reads. So an edited claim
reruns the tests but no table, and a comment reruns nothing.
"""

from vsebench.evaluation.analyses import known_analyses
from vsebench.papers.audit.checking import MODULES as CHECKS
from vsebench.papers.verdicts import claim_modules, claims_read

PAPERS = [str(paper.path) for paper in PLAN.papers]
PRINTED = [str(paper.numbers) for paper in PLAN.papers]
READ = claims_read(PLAN.papers)
REQUESTED = [
    f"results/{name}.parquet"
    for name in known_analyses()
    if name in READ and PLAN.rows_read(name)
]
SIBLINGS = {
    name: path
    for name in PLAN.siblings
    for path in siblings_files([name])
    if "lists" in READ
}


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
        sources("stages.claims"),
        [os.path.relpath(path) for path in sources_of(*claim_modules(PLAN.papers))],
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        all_cases(f"{MODEL}/ranks.parquet"),
        all_cases(f"{MODEL}/lists.parquet") if SIBLINGS else [],
        [path for place in PLAN.places for path in decisions_at(place)],
        list(SIBLINGS.values()),
        [f"{sweep}-ranks.parquet" for sweep in SWEEPS],
        sweeps="results/sweeps.parquet" if SWEEPS else [],
        scaling="results/scaling.parquet" if PLAN.config.scaling else [],
        requested=REQUESTED,
    output:
        "results/claims.csv",
    log:
        "results/logs/claims.log",
    params:
        papers=PAPERS,
        claims=[paper.claims for paper in PLAN.papers],
        own=[paper.datasets for paper in PLAN.papers],  # the papers' own data sets
        rows=[
            f"{place}/{name}"
            for place in PLAN.places
            for name in [*PLAN.rows(place), *PLAN.decided(place)]
        ],
        seeds=PLAN.config.seeds,
        bootstrap=PLAN.config.bootstrap,
        sweeps="--sweeps results/sweeps.parquet" if SWEEPS else "",
        scaling="--scaling results/scaling.parquet" if PLAN.config.scaling else "",
        requested=f"--on-request {' '.join(REQUESTED)}" if REQUESTED else "",
        siblings=literally(as_json(SIBLINGS)),
    shell:
        "python -m vsebench claims --papers {params.papers:q} --results results --rows {params.rows}"
        " --seeds {params.seeds} --bootstrap {params.bootstrap} {params.sweeps} {params.scaling}"
        " {params.requested} --siblings {params.siblings:q} --out {output} > {log} 2>&1"


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
