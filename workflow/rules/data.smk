"""From a data set's sources to its label matrix."""

RAW = "data/raw/{dataset}"
PROCESSED = "data/processed/{dataset}"


def dataset_config(wildcards):
    return os.path.relpath(ROOT / "config" / "datasets" / f"{wildcards.dataset}.yaml")


def adapter_sources(wildcards):
    return sources(
        "datasets.prepare", f"datasets.{PLAN.datasets[wildcards.dataset].adapter}"
    )


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
        "{VSEBENCH} download --config {input.config} --out {params.out} 2>&1 | tee {log} >&2"


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
        raw=RAW,
        out=PROCESSED,
        options=lambda wildcards: quoted_json(
            PLAN.config.datasets[wildcards.dataset].options
        ),
    shell:
        "{VSEBENCH} prepare --config {input.config} --options {params.options:q}"
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
        "{VSEBENCH} gather --inputs {input.summaries} --out {output} > {log} 2>&1"
