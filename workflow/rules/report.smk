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
        sources("rendering.report"),
    output:
        report("results/report.html", caption="../report/page.rst", category="Page"),
    log:
        "results/logs/report.log",
    params:
        titles=TITLES,
    shell:
        "python -m vsebench report --results results --figures figures --titles {params.titles:q} --out {output} > {log} 2>&1"
