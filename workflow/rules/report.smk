"""The report: one page with every table and figure."""


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
        sources("vsebench.stages.report"),
        kind_sources(kinds.TableKind, PLAN.tables),
        kind_sources(kinds.FigureKind, PLAN.figures),
        [
            os.path.relpath(path)
            for path in sorted(
                (PACKAGE / "rendering" / "page" / "templates").glob("*.*")
            )
        ],
        PRINTED,
    output:
        report("results/report.html", caption="../report/page.rst", category="Page"),
    log:
        "results/logs/report.log",
    params:
        papers=PAPERS,
        # The page reads these parts of papers' files; claims and statements come from claims.csv and audit.csv.
        shown=lambda wildcards: [
            paper.model_dump(exclude={*paper.tested, *paper.audited})
            for paper in PLAN.papers
        ],
        pictures=literally(as_json(pictures(PLAN))),
    shell:
        "python -m vsebench stage report --results results --figures figures --papers {params.papers:q}"
        " --pictures {params.pictures:q} --out {output} > {log} 2>&1"
