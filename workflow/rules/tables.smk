"""Tables as CSV, Markdown and LaTeX: those of the run and those of the papers."""

from vsebench.rendering import kinds

TABLES = expand(
    "results/tables/{name}.{suffix}", name=PLAN.tables, suffix=["csv", "md", "tex"]
)


def gathered(base, instances):
    """Return the input function of a table or figure: what its kind reads, its sources and its paper's numbers."""

    def inputs(wildcards):
        instance = instances[wildcards.name]
        found = [
            f"results/{name}" for name in kinds.inputs(base, instance, PLAN.outline)
        ]
        return [
            *found,
            *map(os.path.relpath, sources_of(*kinds.modules(base, instance))),
            *kinds.printed_numbers(instance),
        ]

    return inputs


def kind_sources(base, instances):
    """Name the source files behind all tables or figures."""
    found = [sources_of(*kinds.modules(base, one)) for one in instances.values()]
    return sorted({os.path.relpath(path) for paths in found for path in paths})


def kind_of(instances):
    return lambda wildcards: instances[wildcards.name].kind


def parameters_of(instances):
    return lambda wildcards: quoted_json(instances[wildcards.name].parameters)


def facts_of(instances):
    """Return a parameter that reruns a paper's table when the keys of the YAML file that it reads have changed."""
    facts = {paper.name: paper.facts for paper in PLAN.papers}
    return lambda wildcards: facts.get(instances[wildcards.name].paper, "")


def tables_of(*kinds_of_tables):
    """Name the files of all tables of some kinds."""
    names = [
        name for name, table in PLAN.tables.items() if table.kind in kinds_of_tables
    ]
    return expand(
        "results/tables/{name}.{suffix}", name=names, suffix=["csv", "md", "tex"]
    )


rule outline:
    """Write what the run consists of, for tables, figures and the report."""
    output:
        "results/outline.json",
    log:
        "results/logs/outline.log",
    params:
        outline=lambda wildcards: PLAN.outline.model_dump_json(),
    shell:
        "printf '%s\\n' {params.outline:q} > {output} 2> {log}"


rule table:
    input:
        "results/outline.json",
        gathered(kinds.TableKind, PLAN.tables),
    output:
        report(
            "results/tables/{name}.csv",
            caption="../report/table.rst",
            category=lambda wildcards: (
                "Tables of the papers"
                if PLAN.tables[wildcards.name].paper
                else "Tables"
            ),
        ),
        "results/tables/{name}.md",
        "results/tables/{name}.tex",
    log:
        "results/logs/table/{name}.log",
    wildcard_constraints:
        name="[a-z0-9_-]+",
    params:
        kind=kind_of(PLAN.tables),
        parameters=parameters_of(PLAN.tables),
        facts=facts_of(PLAN.tables),
        out=subpath(output[0], strip_suffix=".csv"),
    shell:
        "python -m vsebench table {wildcards.name} --kind {params.kind} --parameters {params.parameters:q}"
        " --results results --out {params.out} > {log} 2>&1"
