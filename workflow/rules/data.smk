"""Make the label matrix and the image features of a data set from its sources."""


rule about:
    """Write the description of a data set that tables and the report show; no result depends on it."""
    output:
        f"{PROCESSED}/about.json",
    log:
        "results/logs/about/{dataset}.log",
    params:
        about=job_content("about"),
    shell:
        "write_text {output} {params.about:q} 2> {log}"


rule download:
    """Download the files of a data set (raw), or of a source of siblings or of word vectors."""
    input:
        unpack(job_inputs("download")),
    output:
        # The downloaded files are in the same folder. If they were outputs, Snakemake would delete all of them after a
        # failed download.
        "data/{kind}/{name}/provenance.json",
    log:
        "results/logs/download/{kind}-{name}.log",
    wildcard_constraints:
        kind="raw|siblings|word_vectors",
        name=DATASET_NAME,
    params:
        options=job_options("download"),
        out="data/{kind}/{name}",
    shell:
        "python -m vsebench stage download {params.options} --out {params.out} 2>&1 | tee {log} >&2"


rule network_features:
    input:
        unpack(job_inputs("network_features")),
    output:
        # The folder `shards` next to them is not an output: it must survive when the job is stopped.
        multiext(
            f"{MADE_FEATURES}/{{dataset}}/",
            "features.npy",
            "ids.txt",
            "failed.txt",
            "record.json",
        ),
    log:
        "results/logs/features/{dataset}.log",
    threads: 8
    resources:
        runtime=120,
    params:
        out=subpath(output[0], parent=True),
        options=job_options("network_features"),
    shell:
        "python -m vsebench features {params.options} --threads {threads} --out {params.out} 2>&1 | tee {log} >&2"


use rule network_features as network_features_of_set with:
    output:
        multiext(
            f"{MADE_FEATURES}/{{dataset}}/{{name}}/",
            "features.npy",
            "ids.txt",
            "failed.txt",
            "record.json",
        ),
    log:
        "results/logs/features/{dataset}-{name}.log",
    wildcard_constraints:
        name=SET_NAME,


# One rule per data set, because only some have image features or a known truth.
for dataset in PLAN.datasets:
    prepare = job("prepare", dataset=dataset)

    rule:
        name:
            f"prepare_{dataset.replace('-', '_')}"
        input:
            **prepare.inputs,
        output:
            multiext(f"data/processed/{dataset}/", *processed_files(PLAN, dataset)),
        log:
            f"results/logs/prepare/{dataset}.log",
        resources:
            # The raw files are not inputs, so their size is unknown. Open Images takes up to 4.0 GiB of memory, and the
            # ten million simulated images of config/scale.yaml take up to 5.9 GiB.
            mem_mb=7000,
        params:
            out=subpath(output[0], parent=True),
            options=literally(prepare.options),
        shell:
            "python -m vsebench stage prepare {params.options} --out {params.out} > {log} 2>&1"


rule croissant:
    """Describe a prepared data set in the Croissant format, for repositories and loaders of data sets."""
    input:
        unpack(job_inputs("croissant")),
        about=f"{PROCESSED}/about.json",
    output:
        f"{PROCESSED}/croissant.json",
    log:
        "results/logs/croissant/{dataset}.log",
    params:
        options=job_options("croissant"),
    shell:
        "python -m vsebench stage croissant {params.options} --out {output} > {log} 2>&1"


rule siblings:
    input:
        unpack(job_inputs("siblings")),
        labels=f"{PROCESSED}/labels.parquet",
    output:
        table=f"{PROCESSED}/siblings.parquet",
        summary=f"{PROCESSED}/siblings.json",
    log:
        "results/logs/siblings/{dataset}.log",
    params:
        options=job_options("siblings"),
    shell:
        "python -m vsebench stage siblings {params.options} --labels {input.labels} --out {output.table}"
        " --summary {output.summary} > {log} 2>&1"


rule word_vectors:
    input:
        unpack(job_inputs("word_vectors")),
        labels=f"{PROCESSED}/labels.parquet",
    output:
        vectors=f"{PROCESSED}/word_vectors.npz",
        rules=f"{PROCESSED}/word_vectors.parquet",
        summary=f"{PROCESSED}/word_vectors.json",
    log:
        "results/logs/word_vectors/{dataset}.log",
    params:
        options=job_options("word_vectors"),
    shell:
        "python -m vsebench stage word_vectors {params.options} --labels {input.labels} --out {output.vectors}"
        " --rules {output.rules} --summary {output.summary} 2>&1 | tee {log} >&2"


# Join two data sets for a protocol that trains on another data set than it tests on.
for task in joined_tasks(PLAN):
    join = job("join", dataset=task.dataset, protocol=task.protocol)

    rule:
        name:
            f"join_{task.name.replace('-', '_')}"
        input:
            **join.inputs,
        output:
            multiext(f"{PLAN.processed(task)}/", *joined_files(PLAN, task)),
        log:
            f"results/logs/join/{task.name}.log",
        params:
            out=subpath(output[0], parent=True),
            options=literally(join.options),
        shell:
            "python -m vsebench stage join {params.options} --out {params.out} > {log} 2>&1"
