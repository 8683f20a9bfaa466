"""The papers' own tables, each printed number beside ours."""

PUBLISHED = os.path.relpath(ROOT / "config" / "published")
PAPER_TABLES = [
    *(f"vse_ens_table{number}" for number in range(1, 5)),
    *(f"vse_fs_table{number}" for number in range(1, 5)),
]


rule compare:
    input:
        sources("comparison"),
        "results/summary.parquet",
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        comparable=f"{PUBLISHED}/comparable.yaml",
        published=expand(
            "{folder}/{paper}.csv", folder=PUBLISHED, paper=["vse_ens", "vse_fs"]
        ),
    output:
        "results/comparison.csv",
    log:
        "results/logs/comparison.log",
    shell:
        "python -m vsebench compare --published {input.published:q} --comparable {input.comparable:q} --results results"
        " --out {output} > {log} 2>&1"


rule paper_table:
    input:
        sources("rendering.papers"),
        "results/comparison.csv",
        "results/datasets.json",
        published=f"{PUBLISHED}/{{paper}}.csv",
        scaling="results/scaling.parquet" if PLAN.config.scaling else [],
    output:
        report(
            "results/tables/{paper}_table{number}.csv",
            caption="../report/paper_table.rst",
            category="Tables of the papers",
        ),
        "results/tables/{paper}_table{number}.md",
        "results/tables/{paper}_table{number}.tex",
    log:
        "results/logs/table/{paper}_table{number}.log",
    wildcard_constraints:
        paper="vse_ens|vse_fs",
        number="[1-4]",
    params:
        titles=TITLES,
        scaling="--scaling results/scaling.parquet" if PLAN.config.scaling else "",
        out=subpath(output[0], strip_suffix=".csv"),
    shell:
        "python -m vsebench paper-table {wildcards.paper}_table{wildcards.number} --results results"
        " --titles {params.titles:q} --published {input.published:q} {params.scaling} --out {params.out} > {log} 2>&1"


for name in PAPER_TABLES:

    rule:
        name:
            name
        input:
            expand(
                "results/tables/{name}.{suffix}",
                name=name,
                suffix=["csv", "md", "tex"],
            ),
