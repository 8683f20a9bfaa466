"""What the papers' own numbers say of each other; no result of a run is needed."""

from vsebench.rendering.names import AUDIT_TABLES

PUBLISHED = sorted(
    os.path.relpath(path) for path in (ROOT / "config" / "published").glob("*.csv")
)


ruleorder: audit_table > table


rule audit_papers:
    input:
        sources("stages.audit"),
        published=PUBLISHED,
    output:
        "results/audit.csv",
    log:
        "results/logs/audit.log",
    shell:
        "python -m vsebench audit --inputs {input.published:q} --out {output} > {log} 2>&1"


rule audit_table:
    input:
        "results/audit.csv",
        sources("rendering.tables"),
    output:
        report(
            "results/tables/{name}.csv",
            caption="../report/audit.rst",
            category="Tables",
        ),
        "results/tables/{name}.md",
        "results/tables/{name}.tex",
    log:
        "results/logs/table/{name}.log",
    wildcard_constraints:
        name="|".join(AUDIT_TABLES),
    params:
        out=subpath(output[0], strip_suffix=".csv"),
    shell:
        "python -m vsebench table {wildcards.name} --results results --out {params.out} > {log} 2>&1"
