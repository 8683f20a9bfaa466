"""One page with everything."""

PAPERS_SHOWN = [
    os.path.relpath(ROOT / "config" / "papers" / f"{name}.yaml")
    for name in PLAN.outline.papers
]


rule report_page:
    input:
        "results/outline.json",
        [
            f"results/{name}"
            for name in kinds.GATHERED.values()
            if Path(name).stem in PLAN.outline.files
        ],
        TABLES,
        FIGURES,
        sources("stages.report"),
        kind_sources(kinds.TableKind, PLAN.tables),
        kind_sources(kinds.FigureKind, PLAN.figures),
        os.path.relpath(PACKAGE / "rendering" / "templates" / "report.html.j2"),
        [str(Path(paper).with_suffix(".csv")) for paper in PAPERS_SHOWN],
        papers=PAPERS_SHOWN,
    output:
        report("results/report.html", caption="../report/page.rst", category="Page"),
    log:
        "results/logs/report.log",
    shell:
        "python -m vsebench report --results results --figures figures --papers {input.papers:q} --out {output}"
        " > {log} 2>&1"
