"""Choose settings on the validation labels, then fit to training and validation labels together."""


# A job a row, of what the row's models depend on themselves. One job for all rows would need ancient() to keep the other
# rows' models, and behind an ancient() input that is made again Snakemake overlooks every other change (its issue 4166).
rule compile_kernels:
    input:
        method_sources(),
    output:
        "results/kernels/{row}.json",
    log:
        "results/logs/compile/{row}.log",
    params:
        method=method_module,
        settings=lambda wildcards: quoted_json(PLAN.methods[wildcards.row].settings),
    shell:
        "python -m vsebench compile --method {params.method} --settings {params.settings:q} --out {output} > {log} 2>&1"


rule compile_shared_kernels:
    input:
        sources("stages.compile"),
    output:
        "results/kernels/ranking-and-simulator.json",
    log:
        "results/logs/compile/ranking-and-simulator.log",
    shell:
        "python -m vsebench compile --out {output} > {log} 2>&1"


rule describe_machine:
    input:
        sources("stages.describe"),
        kernels=expand(
            "results/kernels/{name}.json",
            name=[
                "ranking-and-simulator",
                *(row for row in PLAN.methods if PLAN.methods[row].epochs),
            ],
        ),
    output:
        "results/machine.json",
    log:
        "results/logs/machine.log",
    shell:
        "python -m vsebench describe --kernels {input.kernels} --out {output} > {log} 2>&1"


rule select:
    input:
        compiled_kernels,
        method_sources("selection"),
        parts=multiext(f"{SPLIT}/", "train.parquet", "valid.parquet", "split.json"),
    output:
        choice=f"{MODEL}/selection.json",
        history=f"{MODEL}/selection.parquet",
    log:
        f"{MODEL}/selection.log",
    threads: 1
    params:
        split=split_folder,
        method=method_module,
        settings=row_settings,
        grid=lambda wildcards: quoted_json(PLAN.grid(wildcards.row)),
        epochs=lambda wildcards: quoted_json(
            PLAN.methods[wildcards.row].epochs.model_dump()
        ),
        metric=PLAN.config.validation_metric,
        images=PLAN.config.validation_images,
    shell:
        "python -m vsebench select --split {params.split} --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --row {wildcards.row} --method {params.method} --settings {params.settings:q} --seed {wildcards.seed}"
        " --threads {threads} --grid {params.grid:q} --epochs {params.epochs:q} --metric {params.metric}"
        " --images {params.images} --out {output.choice} --history {output.history} > {log} 2>&1"


rule train:
    input:
        compiled_kernels,
        method_sources("training"),
        parts=multiext(f"{SPLIT}/", "train.parquet", "valid.parquet", "split.json"),
        summary=f"{PROCESSED}/summary.json",
        selection=selection_file,
    output:
        multiext(f"{MODEL}/", "model.npz", "history.parquet", "run.json"),
    log:
        f"{MODEL}/train.log",
    threads: 1
    params:
        split=split_folder,
        processed=subpath(input.summary, parent=True),
        out=MODEL,
        method=method_module,
        settings=row_settings,
        selection=selection_option,
    shell:
        "python -m vsebench train --split {params.split} --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --row {wildcards.row} --method {params.method} --settings {params.settings:q} --seed {wildcards.seed}"
        " --threads {threads}"
        " --processed {params.processed} {params.selection} --out {params.out} > {log} 2>&1"
