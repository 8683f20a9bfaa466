"""From a data set's sources to its label matrix."""


rule download:
    input:
        config=dataset_config,
    output:
        # The files lie beside it; as outputs they would be deleted where a later one fails.
        f"{RAW}/provenance.json",
    log:
        "results/logs/download/{dataset}.log",
    params:
        out=RAW,
    shell:
        "python -m vsebench download --config {input.config:q} --out {params.out} 2>&1 | tee {log} >&2"


rule prepare:
    input:
        f"{RAW}/provenance.json",
        adapter_sources,
        config=dataset_config,
    output:
        multiext(
            f"{PROCESSED}/",
            "pairs.parquet",
            "images.parquet",
            "labels.parquet",
            "summary.json",
        ),
    log:
        "results/logs/prepare/{dataset}.log",
    params:
        raw=subpath(input[0], parent=True),
        out=PROCESSED,
        options=lambda wildcards: quoted_json(
            PLAN.config.datasets[wildcards.dataset].options
        ),
    shell:
        "python -m vsebench prepare --config {input.config:q} --options {params.options:q}"
        " --raw {params.raw} --out {params.out} > {log} 2>&1"


rule gather_datasets:
    input:
        sources("gathering"),
        summaries=expand("data/processed/{dataset}/summary.json", dataset=PLAN.datasets),
    output:
        "results/datasets.json",
    log:
        "results/logs/gather/datasets.log",
    shell:
        "python -m vsebench gather --inputs {input.summaries} --out {output} > {log} 2>&1"
