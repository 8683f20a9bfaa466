"""One page with everything."""


rule report_page:
    input:
        ACCURACY_NUMBERS,
        "results/timing.parquet",
        TABLES,
        FIGURES,
        "results/machine.json",
        "results/metrics.parquet",
        "results/audit.csv",
        "results/claims.csv",
        "results/comparison.csv",
        sources("rendering.report"),
        published=expand(
            "{folder}/{paper}.csv", folder=PAPERS, paper=["vse_ens", "vse_fs"]
        ),
        scaling="results/scaling.parquet" if PLAN.config.scaling else [],
    output:
        report("results/report.html", caption="../report/page.rst", category="Page"),
    log:
        "results/logs/report.log",
    params:
        titles=TITLES,
        published=PAPERS,
        scaling="--scaling results/scaling.parquet" if PLAN.config.scaling else "",
    shell:
        "python -m vsebench report --results results --figures figures --titles {params.titles:q}"
        " --published {params.published:q} {params.scaling} --out {output} > {log} 2>&1"
