"""Tables as CSV, Markdown and LaTeX: those of the run and those of the papers."""

TABLES = table_files(PLAN.tables)


rule outline:
    """Write the contents of the run, for tables, figures and the report."""
    output:
        "results/outline.json",
    log:
        "results/logs/outline.log",
    params:
        # The keys are not sorted, since their order is that of the tables.
        outline=lambda wildcards: as_sealed_json(
            PLAN.outline.model_dump(mode="json"), Path("results/outline.json")
        ),
    shell:
        "write_text {output} {params.outline:q} 2> {log}"


rule table:
    input:
        "results/outline.json",
        unpack(job_inputs("table")),
    output:
        report(
            "results/tables/{name}.csv",
            caption="../report/table.rst",
            category=lambda wildcards: category("Tables", PLAN.tables[wildcards.name]),
        ),
        "results/tables/{name}.md",
        "results/tables/{name}.tex",
    log:
        "results/logs/table/{name}.log",
    wildcard_constraints:
        name="|".join(PLAN.tables) or "none",
    params:
        options=job_options("table"),
        paper=job_content("table"),
        out="results/tables/{name}",
    shell:
        "python -m vsebench stage table {wildcards.name} {params.options} --results results --out {params.out} > {log} 2>&1"
