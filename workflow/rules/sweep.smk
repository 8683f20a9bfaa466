"""Vary single settings around the chosen ones."""


rule sweep:
    input:
        compiled_kernels,
        method_sources("stages.sweep"),
        parts=multiext(
            f"{SPLIT}/", "train.parquet", "valid.parquet", "test.parquet", "split.json"
        ),
        selection=f"{MODEL}/selection.json",
    output:
        table=f"{MODEL}/sweep/{{parameter}}.parquet",
        ranks=f"{MODEL}/sweep/{{parameter}}-ranks.parquet",
    log:
        f"{MODEL}/sweep/{{parameter}}.log",
    threads: 1
    params:
        split=split_folder,
        method=method_module,
        settings=row_settings,
        epochs=lambda wildcards: quoted_json(
            PLAN.methods[wildcards.row].epochs.model_dump()
        ),
        values=lambda wildcards: quoted_json(
            PLAN.config.sweeps[wildcards.row][wildcards.parameter]
        ),
        metric=PLAN.config.validation_metric,
        images=PLAN.config.validation_images,
    shell:
        "python -m vsebench sweep --split {params.split} --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --row {wildcards.row} --method {params.method} --settings {params.settings:q} --seed {wildcards.seed}"
        " --threads {threads} --epochs {params.epochs:q} --metric {params.metric} --images {params.images}"
        " --selection {input.selection} --parameter {wildcards.parameter} --values {params.values:q}"
        " --ranks {output.ranks} --out {output.table} > {log} 2>&1"


SWEEPS = [
    f"results/{run}/seed{seed}/{row}/sweep/{parameter}"
    for run in PLAN.runs
    for seed in PLAN.config.seeds
    for row, parameter in PLAN.sweeps(run.split("/")[0])
]

if SWEEPS:

    use rule gather_metrics as gather_sweeps with:
        input:
            sources("stages.gather"),
            parts=[f"{sweep}.parquet" for sweep in SWEEPS],
        output:
            "results/sweeps.parquet",
        log:
            "results/logs/gather/sweeps.log",
