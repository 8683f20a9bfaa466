"""Rank the held-out labels by each model, compute the metrics from the ranks, and combine the results."""


rule rank:
    input:
        unpack(job_inputs("rank")),
        split=multiext(f"{SPLIT}/", *SPLIT_NAMES),
        model=f"{MODEL}/model.npz",
    output:
        ranks=f"{MODEL}/ranks.parquet",
        lists=f"{MODEL}/lists.parquet",
    log:
        f"{MODEL}/rank.log",
    wildcard_constraints:
        protocol="|".join(KNOWN_IMAGES),
    # Several jobs run at once, each on one thread. For a few large models, use --set-threads rank=8.
    threads: 1
    params:
        split=split_folder,
        options=job_options("rank"),
        label_ranks="",
    shell:
        "python -m vsebench stage rank --split {params.split} --model {input.model} {params.options} --threads {threads}"
        " --ranks {output.ranks} --lists {output.lists} {params.label_ranks} > {log} 2>&1"


use rule rank as rank_new_images with:
    output:
        ranks=f"{MODEL}/ranks.parquet",
        lists=f"{MODEL}/lists.parquet",
        label_ranks=f"{MODEL}/label_ranks.parquet",
    wildcard_constraints:
        protocol="|".join(NEW_IMAGES),
    params:
        label_ranks=f"--label-ranks {MODEL}/label_ranks.parquet",


rule decide:
    input:
        unpack(job_inputs("decide")),
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
        options=job_options("decide"),
    shell:
        "python -m vsebench stage decide --split {params.split} --model {input.model} --dataset {wildcards.dataset}"
        " --protocol {wildcards.protocol} --variant {wildcards.variant} --seed {wildcards.seed} {params.options}"
        " --out {output.chosen} --thresholds {output.thresholds} --record {output.record} > {log} 2>&1"


if PLAN.packs:

    rule open_pack:
        """Unpack a pack of another run, whose methods are shown without being fitted again."""
        input:
            unpack(job_inputs("open_pack")),
        output:
            # The other files are in the same folder, which the job replaces.
            "results/packs/{name}/pack.json",
        log:
            "results/logs/open-pack/{name}.log",
        wildcard_constraints:
            name="|".join(map(re.escape, PLAN.packs)),
        params:
            out=subpath(output[0], parent=True),
        shell:
            "python -m vsebench stage open_pack {input.pack:q} --out {params.out} > {log} 2>&1"

    rule match_packs:
        """Find the methods of packs that were fitted on the splits of this run."""
        input:
            unpack(job_inputs("match_packs")),
        output:
            "results/packs.json",
        log:
            "results/logs/match-packs.log",
        params:
            options=job_options("match_packs"),
        shell:
            "python -m vsebench stage match_packs --results results {params.options} --out {output} > {log} 2>&1"


rule measure:
    """Compute the metrics of all models on a task, from their ranks and decisions."""
    input:
        unpack(job_inputs("measure")),
    output:
        metrics=f"{TASK}/metrics.parquet",
        summary=f"{TASK}/summary.parquet",
        cold=f"{TASK}/cold.parquet",
        by_frequency=f"{TASK}/by_frequency.parquet",
    log:
        f"{TASK}/measure.log",
    params:
        options=job_options("measure"),
    shell:
        "python -m vsebench stage measure --results results --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " {params.options} --out {output.metrics} --summary {output.summary} --cold {output.cold}"
        " --by-frequency {output.by_frequency} > {log} 2>&1"


if "sweeps" in PLAN.outline.files:

    rule measure_sweeps:
        input:
            unpack(job_inputs("measure_sweeps")),
        output:
            "results/sweeps.parquet",
        log:
            "results/logs/measure-sweeps.log",
        params:
            options=job_options("measure_sweeps"),
        shell:
            "python -m vsebench stage measure_sweeps --sweeps {input.sweeps} --ranks {input.ranks} {params.options}"
            " --out {output} > {log} 2>&1"


rule gather:
    """Combine files of all data sets, tasks or models in one file."""
    input:
        unpack(job_inputs("gather")),
    output:
        "results/{name}",
    log:
        "results/logs/gather/{name}.log",
    wildcard_constraints:
        name="|".join(map(re.escape, parts(PLAN))),
    params:
        options=job_options("gather"),
    shell:
        "python -m vsebench stage gather --inputs {input.parts} {params.options} --out {output} > {log} 2>&1"
