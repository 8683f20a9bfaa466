"""Hold out test and validation labels."""


rule split:
    input:
        multiext(f"{PROCESSED}/", "pairs.parquet", "images.parquet", "labels.parquet"),
        sources("stages.split"),
    output:
        multiext(
            f"{SPLIT}/", "train.parquet", "valid.parquet", "test.parquet", "split.json"
        ),
    log:
        f"{SPLIT}/split.log",
    params:
        processed=subpath(input[0], parent=True),
        out=SPLIT,
    shell:
        "python -m vsebench split --processed {params.processed} --protocol {wildcards.protocol}"
        " --seed {wildcards.seed} --out {params.out} > {log} 2>&1"
