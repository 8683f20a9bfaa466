"""From a data set's sources to its label matrix."""


rule define:
    """Write down what the run's configuration says of the user's own table, as if it had a file of its own."""
    output:
        "data/definitions/{dataset}.json",
    log:
        "results/logs/define/{dataset}.log",
    params:
        definition=lambda wildcards: quoted_json(PLAN.definition(wildcards.dataset)),
    shell:
        "printf '%s\\n' {params.definition:q} > {output} 2> {log}"


rule download:
    input:
        own_table,
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
        own_table,
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
        vocabulary=lambda wildcards: quoted_json(
            PLAN.config.datasets[wildcards.dataset].vocabulary
        ),
    shell:
        "python -m vsebench prepare --config {input.config:q} --options {params.options:q}"
        " --vocabulary {params.vocabulary:q} --raw {params.raw} --out {params.out} > {log} 2>&1"


rule gather_datasets:
    input:
        sources("stages.gather"),
        summaries=expand("data/processed/{dataset}/summary.json", dataset=PLAN.datasets),
    output:
        "results/datasets.json",
    log:
        "results/logs/gather/datasets.log",
    shell:
        "python -m vsebench gather --inputs {input.summaries} --out {output} > {log} 2>&1"
