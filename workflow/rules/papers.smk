"""The papers' own tables, each printed number beside ours."""

from vsebench.rendering.names import PAPER_FIGURES, PAPER_TABLES

PAPERS = os.path.relpath(ROOT / "config" / "published")


rule compare:
    input:
        sources("stages.compare"),
        "results/summary.parquet",
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        comparable=f"{PAPERS}/comparable.yaml",
        published=expand(
            "{folder}/{paper}.csv", folder=PAPERS, paper=["vse_ens", "vse_fs"]
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
        published=f"{PAPERS}/{{paper}}.csv",
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
        published=subpath(input.published, parent=True),
        scaling="--scaling results/scaling.parquet" if PLAN.config.scaling else "",
        out=subpath(output[0], strip_suffix=".csv"),
    shell:
        "python -m vsebench paper-table {wildcards.paper}_table{wildcards.number} --results results"
        " --titles {params.titles:q} --published {params.published:q} {params.scaling} --out {params.out} > {log} 2>&1"


rule paper_figure:
    input:
        sources("rendering.paper_figures"),
        "results/timing.parquet",
        "results/history.parquet",
        "results/datasets.json",
        sweeps="results/sweeps.parquet" if SWEEPS else [],
    output:
        "figures/{paper}_figure{number}.pdf",
        "figures/{paper}_figure{number}.svg",
        report(
            "figures/{paper}_figure{number}.png",
            caption="../report/paper_figure.rst",
            category="Figures of the papers",
        ),
    log:
        "results/logs/figure/{paper}_figure{number}.log",
    wildcard_constraints:
        paper="vse_ens|vse_fs",
        number="[12]",
    params:
        titles=TITLES,
        sweeps="--sweeps results/sweeps.parquet" if SWEEPS else "",
        out=subpath(output[0], strip_suffix=".pdf"),
    shell:
        "python -m vsebench paper-figure {wildcards.paper}_figure{wildcards.number} --results results"
        " --titles {params.titles:q} {params.sweeps} --out {params.out} > {log} 2>&1"


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


for name in PAPER_FIGURES:

    rule:
        name:
            name
        input:
            expand("figures/{name}.{suffix}", name=name, suffix=["pdf", "svg", "png"]),
