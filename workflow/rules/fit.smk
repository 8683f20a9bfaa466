"""Compile kernels, choose settings on the validation labels, fit the models to test, and vary single settings."""


# There is one job per variant, with the source files that its models depend on. A single job for all would need
# ancient() to keep the models of other variants. But if an ancient() input is made again, Snakemake overlooks all other
# changes (issue 4166 of Snakemake).
rule compile_kernels:
    input:
        unpack(job_inputs("compile_kernels")),
    output:
        "results/kernels/{variant}.json",
    log:
        "results/logs/compile/{variant}.log",
    params:
        options=job_options("compile_kernels"),
    shell:
        "python -m vsebench stage compile {params.options} --out {output} > {log} 2>&1"


rule compile_shared_kernels:
    input:
        sources("vsebench.stages.compile"),
    output:
        "results/kernels/ranking-and-simulator.json",
    log:
        "results/logs/compile/ranking-and-simulator.log",
    shell:
        "python -m vsebench stage compile --out {output} > {log} 2>&1"


rule describe_machine:
    input:
        sources("vsebench.stages.describe"),
        kernels=expand(
            "results/kernels/{name}.json",
            name=[
                "ranking-and-simulator",
                *(variant for variant in PLAN.methods if PLAN.methods[variant].epochs),
            ],
        ),
    output:
        "results/machine.json",
    log:
        "results/logs/machine.log",
    shell:
        "python -m vsebench stage describe --kernels {input.kernels} --out {output} > {log} 2>&1"


rule fit:
    input:
        unpack(job_inputs("fit")),
        split=multiext(f"{SPLIT}/", *FIT_FILES),
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
        options=job_options("fit"),
        out=MODEL,
    shell:
        "python -m vsebench stage fit --split {params.split} --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --variant {wildcards.variant} {params.options} --seed {wildcards.seed} --threads {threads}"
        " --out {params.out} > {log} 2>&1"


rule sweep:
    input:
        unpack(job_inputs("sweep")),
        split=multiext(f"{SPLIT}/", *SPLIT_NAMES),
        chosen=f"{MODEL}/run.json",
        model=f"{MODEL}/model.npz",
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
        options=job_options("sweep"),
    shell:
        "python -m vsebench stage sweep --split {params.split} --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --variant {wildcards.variant} {params.options} --seed {wildcards.seed} --threads {threads} --chosen {input.chosen}"
        " --ranks {output.ranks} --out {output.table} > {log} 2>&1"
