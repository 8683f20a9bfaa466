"""Figures as PDF, SVG and PNG: those of the run and those of the papers."""

FIGURES = figure_files(PLAN.figures)


rule figure:
    input:
        "results/outline.json",
        unpack(job_inputs("figure")),
    output:
        "figures/{name}.pdf",
        "figures/{name}.svg",
        report(
            "figures/{name}.png",
            caption="../report/figure.rst",
            category=lambda wildcards: category(
                "Figures", PLAN.figures[wildcards.name]
            ),
        ),
    log:
        "results/logs/figure/{name}.log",
    wildcard_constraints:
        name="|".join(PLAN.figures) or "none",
    params:
        options=job_options("figure"),
        paper=job_content("figure"),
        out="figures/{name}",
    shell:
        "python -m vsebench stage figure {wildcards.name} {params.options} --results results --out {params.out} > {log} 2>&1"
