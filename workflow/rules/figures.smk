"""Figures as PDF, SVG and PNG."""

from vsebench.rendering.names import PAPER_FIGURES

FIGURES = expand(
    "figures/{name}.{suffix}",
    name=[*PLAN.figures, *PAPER_FIGURES],
    suffix=["pdf", "svg", "png"],
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
    wildcard_constraints:
        name="[a-z0-9-]+",
    params:
        titles=TITLES,
        out=subpath(output[0], strip_suffix=".pdf"),
    shell:
        "python -m vsebench figure {wildcards.name} --results results --titles {params.titles:q} --out {params.out}"
        " > {log} 2>&1"
