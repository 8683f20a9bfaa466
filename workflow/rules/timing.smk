"""Time the methods side by side while nothing else runs."""


rule time_methods:
    input:
        sources("stages.time"),
        lambda wildcards: sources(
            *(
                f"methods.{PLAN.methods[row].method}"
                for row in PLAN.trained_rows(wildcards.dataset)
            )
        ),
        parts=f"{RUN}/seed{PLAN.config.seeds[0]}/split/test.parquet",
        records=lambda wildcards: expand(
            f"{MODEL}/run.json",
            dataset=wildcards.dataset,
            protocol=wildcards.protocol,
            seed=PLAN.config.seeds[0],
            row=PLAN.trained_rows(wildcards.dataset),
        ),
    output:
        f"{RUN}/timing.parquet",
    log:
        f"{RUN}/timing.log",
    threads: 1
    resources:
        slot=100,
    params:
        seed=PLAN.config.seeds[0],
        methods=lambda wildcards: quoted_json(
            {
                row: PLAN.methods[row].method
                for row in PLAN.trained_rows(wildcards.dataset)
            }
        ),
        repeats=PLAN.config.timing.repeats,
        epochs=PLAN.config.timing.epochs,
    shell:
        "python -m vsebench time --results results --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --seed {params.seed} --methods {params.methods:q} --repeats {params.repeats} --epochs {params.epochs}"
        " --out {output} > {log} 2>&1"


use rule gather_metrics as gather_timing with:
    input:
        sources("stages.gather"),
        parts=expand("results/{run}/timing.parquet", run=PLAN.runs),
    output:
        "results/timing.parquet",
    log:
        "results/logs/gather/timing.log",


if PLAN.config.scaling:

    rule scale:
        input:
            expand("results/kernels/{row}.json", row=PLAN.scaled_rows),
            sources(
                "stages.scale",
                *(f"methods.{module}" for module, _ in PLAN.scaled_rows.values()),
            ),
            dataset=os.path.relpath(
                ROOT / "config" / "datasets" / f"{PLAN.config.scaling.dataset}.yaml"
            ),
        output:
            "results/scaling.parquet",
        log:
            "results/logs/scaling.log",
        threads: 1
        resources:
            slot=100,
        params:
            methods=quoted_json(PLAN.scaled_rows),
            sizes=quoted_json(
                PLAN.config.scaling.model_dump(include={"pairs", "labels", "factors"})
            ),
            repeats=PLAN.config.scaling.repeats,
        shell:
            "python -m vsebench scale --dataset {input.dataset:q} --methods {params.methods:q} --sizes {params.sizes:q}"
            " --repeats {params.repeats} --out {output} > {log} 2>&1"
