"""Tables as CSV, Markdown and LaTeX."""

from vsebench.rendering.names import PAPER_TABLES

ACCURACY_NUMBERS = multiext(
    "results/",
    "metrics.parquet",
    "summary.parquet",
    "history.parquet",
    "datasets.json",
    "settings.json",
)
TITLES = json.dumps(PLAN.titles)  # in the order of display
TABLES = expand(
    "results/tables/{name}.{suffix}",
    name=[*PLAN.tables, *PAPER_TABLES],
    suffix=["csv", "md", "tex"],
)


rule table:
    input:
        numbers,
        sources("rendering.tables"),
    output:
        report(
            "results/tables/{name}.csv",
            caption="../report/table.rst",
            category="Tables",
        ),
        "results/tables/{name}.md",
        "results/tables/{name}.tex",
    log:
        "results/logs/table/{name}.log",
    wildcard_constraints:
        name="[a-z0-9-]+",
    params:
        titles=TITLES,
        out=subpath(output[0], strip_suffix=".csv"),
    shell:
        "python -m vsebench table {wildcards.name} --results results --titles {params.titles:q} --out {params.out}"
        " > {log} 2>&1"
