"""Rank the held-out labels once a model, and everything that follows from the ranks."""


rule rank:
    input:
        sources("evaluation.ranking"),
        parts=multiext(
            f"{SPLIT}/", "train.parquet", "valid.parquet", "test.parquet", "split.json"
        ),
        model=f"{MODEL}/model.npz",
    output:
        f"{MODEL}/ranks.parquet",
    log:
        f"{MODEL}/rank.log",
    # Models are ranked side by side; with few large ones use --set-threads rank=8.
    threads: 1
    params:
        split=split_folder,
    shell:
        "python -m vsebench rank --split {params.split} --model {input.model} --threads {threads} --out {output} > {log} 2>&1"


rule measure:
    input:
        sources("evaluation.metrics"),
        ranks=f"{MODEL}/ranks.parquet",
    output:
        f"{MODEL}/metrics.parquet",
    log:
        f"{MODEL}/measure.log",
    params:
        bootstrap=PLAN.config.bootstrap,
    shell:
        "python -m vsebench measure --ranks {input.ranks} --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --method {wildcards.row} --seed {wildcards.seed} --bootstrap {params.bootstrap} --out {output} > {log} 2>&1"


rule summarise:
    input:
        sources("evaluation.summary"),
        ranks=lambda wildcards: expand(
            f"{MODEL}/ranks.parquet",
            dataset=wildcards.dataset,
            protocol=wildcards.protocol,
            seed=PLAN.config.seeds,
            row=PLAN.rows(wildcards.dataset),
        ),
    output:
        f"{RUN}/summary.parquet",
    log:
        f"{RUN}/summarise.log",
    params:
        rows=lambda wildcards: PLAN.rows(wildcards.dataset),
        seeds=PLAN.config.seeds,
        bootstrap=PLAN.config.bootstrap,
    shell:
        "python -m vsebench summarise --results results --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " --methods {params.rows} --seeds {params.seeds} --bootstrap {params.bootstrap} --out {output} > {log} 2>&1"


rule gather_metrics:
    input:
        sources("stages.gather"),
        parts=all_runs(f"{MODEL}/metrics.parquet"),
    output:
        "results/metrics.parquet",
    log:
        "results/logs/gather/metrics.log",
    shell:
        "python -m vsebench gather --inputs {input.parts} --out {output} > {log} 2>&1"


use rule gather_metrics as gather_summary with:
    input:
        sources("stages.gather"),
        parts=expand("results/{run}/summary.parquet", run=PLAN.runs),
    output:
        "results/summary.parquet",
    log:
        "results/logs/gather/summary.log",


use rule gather_metrics as gather_history with:
    input:
        sources("stages.gather"),
        parts=all_runs(f"{MODEL}/history.parquet"),
    output:
        "results/history.parquet",
    log:
        "results/logs/gather/history.log",


rule gather_settings:
    input:
        sources("stages.gather"),
        parts=all_runs(f"{MODEL}/run.json"),
    output:
        "results/settings.json",
    log:
        "results/logs/gather/settings.log",
    params:
        rows=quoted_json(
            {
                row: {"title": method.title, "source": method.source}
                for row, method in PLAN.methods.items()
            }
        ),
    shell:
        "python -m vsebench gather --inputs {input.parts} --rows {params.rows:q} --out {output} > {log} 2>&1"
