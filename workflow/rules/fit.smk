"""Choose settings on the validation labels, then fit to training and validation labels; vary single settings."""


# One job per row, with the sources that its models depend on. One job for all rows would need ancient() to keep the other
# rows' models, and if an ancient() input is made again, Snakemake overlooks every other change (its issue 4166).
rule compile_kernels:
    input:
        method_sources(),
    output:
        "results/kernels/{row}.json",
    log:
        "results/logs/compile/{row}.log",
    params:
        module=method_module,
        settings=lambda wildcards: as_json(PLAN.compiled_settings(wildcards.row)),
    shell:
        "python -m vsebench compile --module {params.module} --settings {params.settings:q} --out {output} > {log} 2>&1"


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


rule fit:
    input:
        compiled_kernels,
        extra_inputs,
        fit_sources("stages.fit"),
        split=multiext(f"{SPLIT}/", *FIT_FILES),
        chosen=settings_chosen,
    output:
        multiext(f"{MODEL}/", "model.npz", "history.parquet", "run.json"),
    log:
        f"{MODEL}/fit.log",
    threads: 1
    resources:
        mem_mb=memory(80),
        runtime=120,
    params:
        split=split_folder,
        inputs=input_options,
        out=MODEL,
        module=method_module,
        settings=row_settings,
        grid=grid_options,
        validation=validation_options,
    shell:
        "python -m vsebench fit --split {params.split} {params.inputs} --dataset {wildcards.dataset}"
        " --protocol {wildcards.protocol} --row {wildcards.row} --module {params.module}"
        " --settings {params.settings:q} {params.grid} --seed {wildcards.seed} --threads {threads}"
        " {params.validation} --out {params.out} > {log} 2>&1"


rule sweep:
    input:
        compiled_kernels,
        extra_inputs,
        fit_sources("stages.sweep"),
        split=multiext(f"{SPLIT}/", *SPLIT_NAMES),
        chosen=f"{MODEL}/run.json",
    output:
        table=f"{MODEL}/sweep/{{parameter}}.parquet",
        ranks=f"{MODEL}/sweep/{{parameter}}-ranks.parquet",
    log:
        f"{MODEL}/sweep/{{parameter}}.log",
    threads: 1
    resources:
        mem_mb=memory(80),
        runtime=120,
    params:
        split=split_folder,
        inputs=input_options,
        module=method_module,
        settings=row_settings,
        validation=validation_options,
        grid=lambda wildcards: as_json(PLAN.grid(wildcards.row)),
        beyond=lambda wildcards: PLAN.beyond_edges(wildcards.row, sweep=True),
        values=lambda wildcards: as_json(
            PLAN.config.sweeps[wildcards.row][wildcards.parameter]
        ),
    shell:
        "python -m vsebench sweep --split {params.split} {params.inputs} --dataset {wildcards.dataset}"
        " --protocol {wildcards.protocol} --row {wildcards.row} --module {params.module}"
        " --settings {params.settings:q} --seed {wildcards.seed} --threads {threads} {params.validation}"
        " --chosen {input.chosen} --parameter {wildcards.parameter} --values {params.values:q} --grid {params.grid:q}"
        " --beyond {params.beyond}"
        " --ranks {output.ranks} --out {output.table} > {log} 2>&1"


SWEEPS = [
    f"results/{place}/seed{seed}/{row}/sweep/{parameter}"
    for place in PLAN.places
    for seed in PLAN.config.seeds
    for row, parameter in PLAN.sweeps(place)
]
