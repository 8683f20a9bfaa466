"""Gathered files that are made only if a table, a figure or a claim of a paper reads them, of the rows that it names."""


rule neighbours_of_labels:
    input:
        sources("stages.neighbours_of_labels"),
        rows_read("neighbours_of_labels", "model.npz"),
        labels_read("neighbours_of_labels", "labels.parquet"),
    output:
        "results/neighbours_of_labels.parquet",
    log:
        "results/logs/neighbours_of_labels.log",
    params:
        stage="neighbours_of_labels",
        cases=cases_read("neighbours_of_labels"),
    shell:
        "python -m vsebench {params.stage} --results results --processed data/processed {params.cases} --out {output}"
        " > {log} 2>&1"


use rule neighbours_of_labels as examples with:
    input:
        sources("stages.examples"),
        rows_read("examples", "ranks.parquet", "lists.parquet"),
        labels_read("examples", "labels.parquet", "images.parquet"),
    output:
        "results/examples.parquet",
    log:
        "results/logs/examples.log",
    params:
        stage="examples",
        cases=cases_read("examples"),


use rule neighbours_of_labels as precision_at with:
    input:
        sources("stages.precision_at"),
        rows_read("precision_at", "ranks.parquet", "lists.parquet"),
        labels_read("precision_at"),
    output:
        "results/precision_at.parquet",
    log:
        "results/logs/precision_at.log",
    params:
        stage="precision_at",
        cases=cases_read("precision_at"),
