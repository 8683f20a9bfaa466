"""Figures as PDF, SVG and PNG: those of the run and those of the papers."""

FIGURES = expand(
    "figures/{name}.{suffix}", name=PLAN.figures, suffix=["pdf", "svg", "png"]
)


rule figure:
    input:
        "results/outline.json",
        gathered(kinds.FigureKind, PLAN.figures),
    output:
        "figures/{name}.pdf",
        "figures/{name}.svg",
        report(
            "figures/{name}.png",
            caption="../report/figure.rst",
            category=lambda wildcards: (
                "Figures of the papers"
                if PLAN.figures[wildcards.name].paper
                else "Figures"
            ),
        ),
    log:
        "results/logs/figure/{name}.log",
    wildcard_constraints:
        name="[a-z0-9_-]+",
    params:
        kind=kind_of(PLAN.figures),
        parameters=parameters_of(PLAN.figures),
        facts=facts_of(PLAN.figures),
        out=subpath(output[0], strip_suffix=".pdf"),
    shell:
        "python -m vsebench figure {wildcards.name} --kind {params.kind} --parameters {params.parameters:q}"
        " --results results --out {params.out} > {log} 2>&1"
