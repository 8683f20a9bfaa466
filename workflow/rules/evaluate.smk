"""Rank the held-out labels once per model, compute the metrics from the ranks, and gather the results."""


rule rank:
    input:
        method_sources("stages.rank"),
        model_features,
        split=multiext(f"{SPLIT}/", *SPLIT_NAMES),
        model=f"{MODEL}/model.npz",
    output:
        ranks=f"{MODEL}/ranks.parquet",
        lists=f"{MODEL}/lists.parquet",
    log:
        f"{MODEL}/rank.log",
    wildcard_constraints:
        protocol="|".join(KNOWN_IMAGES),
    # Several models are ranked at once, each on one thread; with few large models use --set-threads rank=8.
    threads: 1
    params:
        split=split_folder,
        features=lambda wildcards: (
            f"{model_features_option(wildcards)} {cold_option(wildcards)} {refit_option(wildcards)}"
        ),
    shell:
        "python -m vsebench rank --split {params.split} --model {input.model} {params.features} --threads {threads}"
        " --ranks {output.ranks} --lists {output.lists} > {log} 2>&1"


use rule rank as rank_new_images with:
    output:
        ranks=f"{MODEL}/ranks.parquet",
        lists=f"{MODEL}/lists.parquet",
        label_ranks=f"{MODEL}/label_ranks.parquet",
    wildcard_constraints:
        protocol="|".join(NEW_IMAGES),
    params:
        split=split_folder,
        features=lambda wildcards, output: (
            f"{model_features_option(wildcards)} --label-ranks {output.label_ranks}"
        ),


rule decide:
    input:
        decision_sources,
        decision_inputs,
        split=multiext(f"{SPLIT}/", *SPLIT_NAMES),
        model=f"{MODEL}/model.npz",
    output:
        chosen=f"{MODEL}/decisions.parquet",
        thresholds=f"{MODEL}/thresholds.parquet",
        record=f"{MODEL}/decisions.json",
    log:
        f"{MODEL}/decide.log",
    wildcard_constraints:
        protocol="|".join(NEW_IMAGES),
    params:
        split=split_folder,
        inputs=decision_options,
        decisions=decisions_of_row,
    shell:
        "python -m vsebench decide --split {params.split} --model {input.model} {params.inputs}"
        " --dataset {wildcards.dataset} --protocol {wildcards.protocol} --row {wildcards.row} --seed {wildcards.seed}"
        " --decisions {params.decisions:q} --out {output.chosen} --thresholds {output.thresholds}"
        " --record {output.record} > {log} 2>&1"


rule measure:
    input:
        sources("stages.measure"),
        metric_sources,
        ranked,
        siblings,
        decisions_made,
        split=expand(
            f"{SPLIT}/{{name}}",
            seed=PLAN.config.seeds,
            name=["split.json", "labels.parquet", "final.parquet"],
            allow_missing=True,
        ),
    output:
        metrics=f"{PLACE}/metrics.parquet",
        summary=f"{PLACE}/summary.parquet",
        cold=f"{PLACE}/cold.parquet",
        by_frequency=f"{PLACE}/by_frequency.parquet",
    log:
        f"{PLACE}/measure.log",
    params:
        rows=lambda wildcards: PLAN.rows(place_of(wildcards)),
        not_compared=lambda wildcards: [
            str(one) for one in PLAN.not_compared(place_of(wildcards))
        ],
        decisions=decided_option,
        seeds=PLAN.config.seeds,
        metrics=PLAN.config.metrics,
        siblings=siblings_option,
        bootstrap=PLAN.config.bootstrap,
    shell:
        "python -m vsebench measure --results results --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --rows {params.rows} {params.decisions} --not-compared {params.not_compared} --seeds {params.seeds} --metrics {params.metrics}"
        " {params.siblings} --bootstrap {params.bootstrap} --out {output.metrics} --summary {output.summary} --cold {output.cold}"
        " --by-frequency {output.by_frequency} > {log} 2>&1"


rule gather_metrics:
    input:
        sources("stages.gather"),
        parts=expand("results/{place}/metrics.parquet", place=PLAN.places),
    output:
        "results/metrics.parquet",
    log:
        "results/logs/gather/metrics.log",
    shell:
        "python -m vsebench gather --inputs {input.parts} --out {output} > {log} 2>&1"


use rule gather_metrics as gather_summary with:
    input:
        sources("stages.gather"),
        parts=expand("results/{place}/summary.parquet", place=PLAN.places),
    output:
        "results/summary.parquet",
    log:
        "results/logs/gather/summary.log",


use rule gather_metrics as gather_by_frequency with:
    input:
        sources("stages.gather"),
        parts=expand("results/{place}/by_frequency.parquet", place=PLAN.places),
    output:
        "results/by_frequency.parquet",
    log:
        "results/logs/gather/by-frequency.log",


if PLAN.cold_places:

    localrules:
        gather_cold,

    use rule gather_metrics as gather_cold with:
        input:
            sources("stages.gather"),
            parts=expand("results/{place}/cold.parquet", place=PLAN.cold_places),
        output:
            "results/cold.parquet",
        log:
            "results/logs/gather/cold.log",


use rule gather_metrics as gather_history with:
    input:
        sources("stages.gather"),
        parts=all_cases(f"{MODEL}/history.parquet"),
    output:
        "results/history.parquet",
    log:
        "results/logs/gather/history.log",


if SWEEPS:

    rule measure_sweeps:
        input:
            sources("stages.measure_sweeps"),
            metric_sources,
            sweeps=[f"{sweep}.parquet" for sweep in SWEEPS],
            ranks=[f"{sweep}-ranks.parquet" for sweep in SWEEPS],
        output:
            "results/sweeps.parquet",
        log:
            "results/logs/measure-sweeps.log",
        params:
            metrics=PLAN.rank_metrics,
        shell:
            "python -m vsebench measure_sweeps --sweeps {input.sweeps} --ranks {input.ranks} --metrics {params.metrics}"
            " --out {output} > {log} 2>&1"


rule gather_settings:
    input:
        sources("stages.gather"),
        parts=all_cases(f"{MODEL}/run.json"),
    output:
        "results/settings.json",
    log:
        "results/logs/gather/settings.log",
    params:
        rows=literally(
            as_json(
                {
                    row: {"title": method.title, "source": method.source}
                    for row, method in PLAN.methods.items()
                }
            )
        ),
        not_tuned=as_json(PLAN.not_tuned),
    shell:
        "python -m vsebench gather --inputs {input.parts} --rows {params.rows:q} --not-tuned {params.not_tuned:q}"
        " --out {output} > {log} 2>&1"
