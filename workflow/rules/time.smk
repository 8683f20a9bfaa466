"""Time the methods, and measure how an epoch's time grows, while no other job runs."""


rule time_methods:
    input:
        sources("stages.time"),
        timed_inputs,
        lambda wildcards: sources(
            *(
                module_of("methods", PLAN.methods[row].method)
                for row in PLAN.timed_rows(place_of(wildcards))
            )
        ),
        split=expand(
            f"{PLACE}/seed{{seed}}/split/{{name}}",
            seed=PLAN.config.timed_seeds,
            name=SPLIT_NAMES,
            allow_missing=True,
        ),
        records=lambda wildcards: expand(
            f"{MODEL}/run.json",
            dataset=wildcards.dataset,
            protocol=wildcards.protocol,
            seed=PLAN.config.timed_seeds,
            row=PLAN.timed_rows(place_of(wildcards)),
        ),
    output:
        f"{PLACE}/timing.parquet",
    log:
        f"{PLACE}/timing.log",
    threads: 1
    resources:
        slot=100,
        mem_mb=memory(80),
        runtime=120,
    params:
        seeds=as_json(PLAN.config.timed_seeds),
        inputs=timed_options,
        modules=lambda wildcards: as_json(
            {
                row: PLAN.methods[row].method
                for row in PLAN.timed_rows(place_of(wildcards))
            }
        ),
        epochs=PLAN.config.timing.epochs,
        to_best_epoch="--to-best-epoch" if PLAN.config.timing.to_best_epoch else "",
    shell:
        "python -m vsebench time --results results {params.inputs} --dataset {wildcards.dataset}"
        " --protocol {wildcards.protocol} --seeds {params.seeds:q} --modules {params.modules:q}"
        " --epochs {params.epochs} {params.to_best_epoch} --out {output} > {log} 2>&1"


use rule gather_metrics as gather_timing with:
    input:
        sources("stages.gather"),
        parts=expand("results/{place}/timing.parquet", place=PLAN.timed_places),
    output:
        "results/timing.parquet",
    log:
        "results/logs/gather/timing.log",


if PLAN.config.scaling:

    rule scale:
        input:
            expand(
                "results/kernels/{row}.json",
                row=[row for row in PLAN.scaled_rows if PLAN.methods[row].epochs],
            ),
            sources(
                "stages.scale",
                *(
                    module_of("methods", module)
                    for module, _ in PLAN.scaled_rows.values()
                ),
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
            runtime=120,
        params:
            methods=literally(as_json(PLAN.scaled_rows)),
            options=literally(as_json(PLAN.config.scaling.options)),
            sizes=literally(as_json(PLAN.config.scaling.sizes)),
            repeats=PLAN.config.scaling.repeats,
        shell:
            "python -m vsebench scale --dataset {input.dataset:q} --options {params.options:q}"
            " --methods {params.methods:q} --sizes {params.sizes:q} --repeats {params.repeats} --out {output} > {log} 2>&1"
