"""Figures as PDF, SVG and PNG."""

FIGURES = expand(
    "figures/{name}.{suffix}", name=PLAN.figures, suffix=["pdf", "svg", "png"]
)


rule figure:
    input:
        numbers,
        sources("rendering.figures"),
    output:
        "figures/{name}.pdf",
        "figures/{name}.svg",
        report("figures/{name}.png", caption="../report/figure.rst", category="Figures"),
    log:
        "results/logs/figure/{name}.log",
    params:
        titles=TITLES,
        out=subpath(output[0], strip_suffix=".pdf"),
    shell:
        "python -m vsebench figure {wildcards.name} --results results --titles {params.titles:q} --out {params.out}"
        " > {log} 2>&1"
