"""Test the papers' claims on the results."""

from vsebench.rendering.names import CLAIM_TABLES

RUN_ROWS = [f"{run}/{row}" for run in PLAN.runs for row in PLAN.rows(run.split("/")[0])]


ruleorder: claims_table > table


rule test_claims:
    input:
        sources("stages.claims"),
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        all_runs(f"{MODEL}/ranks.parquet"),
        [f"{sweep}-ranks.parquet" for sweep in SWEEPS],
        claims=os.path.relpath(ROOT / "config" / "claims.yaml"),
        sweeps="results/sweeps.parquet" if SWEEPS else [],
        scaling="results/scaling.parquet" if PLAN.config.scaling else [],
    output:
        "results/claims.csv",
    log:
        "results/logs/claims.log",
    params:
        runs=RUN_ROWS,
        seeds=PLAN.config.seeds,
        bootstrap=PLAN.config.bootstrap,
        sweeps="--sweeps results/sweeps.parquet" if SWEEPS else "",
        scaling="--scaling results/scaling.parquet" if PLAN.config.scaling else "",
    shell:
        "python -m vsebench claims --claims {input.claims:q} --results results --runs {params.runs} --seeds {params.seeds}"
        " --bootstrap {params.bootstrap} {params.sweeps} {params.scaling} --out {output} > {log} 2>&1"


rule claims_table:
    input:
        "results/claims.csv",
        "results/datasets.json",
        sources("rendering.tables"),
    output:
        report(
            "results/tables/{name}.csv",
            caption="../report/claims.rst",
            category="Tables of the papers",
        ),
        "results/tables/{name}.md",
        "results/tables/{name}.tex",
    log:
        "results/logs/table/{name}.log",
    wildcard_constraints:
        name="|".join(CLAIM_TABLES),
    params:
        titles=TITLES,
        out=subpath(output[0], strip_suffix=".csv"),
    shell:
        "python -m vsebench table {wildcards.name} --results results --titles {params.titles:q} --out {params.out}"
        " > {log} 2>&1"
