"""Figures as PDF, SVG and PNG."""

FIGURE_NAMES = [
    "trials",
    "training-time",
    *(
        f"{kind}-{run.replace('/', '-')}"
        for run in PLAN.runs
        for kind in ("accuracy", "convergence")
    ),
]
FIGURES = expand(
    "figures/{name}.{suffix}", name=FIGURE_NAMES, suffix=["pdf", "svg", "png"]
)


rule figure:
    input:
        NUMBERS,
        sources("rendering.figures"),
    output:
        multiext("figures/{name}", ".pdf", ".svg", ".png"),
    log:
        "results/logs/figure/{name}.log",
    params:
        titles=TITLES,
        out=subpath(output[0], strip_suffix=".pdf"),
    shell:
        "{VSEBENCH} figure {wildcards.name} --results results --titles {params.titles:q} --out {params.out}"
        " > {log} 2>&1"
