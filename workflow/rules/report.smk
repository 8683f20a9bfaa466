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
        vse_ens=f"{PAPERS}/vse_ens.csv",
        vse_fs=f"{PAPERS}/vse_fs.csv",
        scaling="results/scaling.parquet" if PLAN.config.scaling else [],
    output:
        report("results/report.html", caption="../report/page.rst", category="Page"),
    log:
        "results/logs/report.log",
    params:
        titles=TITLES,
        published=subpath(input.vse_fs, parent=True),
        scaling="--scaling results/scaling.parquet" if PLAN.config.scaling else "",
    shell:
        "python -m vsebench report --results results --figures figures --titles {params.titles:q}"
        " --published {params.published:q} {params.scaling} --out {output} > {log} 2>&1"
