"""From a data set's sources to its label matrix and image features."""


rule about:
    """Write what tables and the report say about a data set; no result depends on it."""
    output:
        f"{PROCESSED}/about.json",
    log:
        "results/logs/about/{dataset}.log",
    params:
        about=lambda wildcards: as_json(numbered(PLAN.about(wildcards.dataset))),
    shell:
        "printf '%s\\n' {params.about:q} > {output} 2> {log}"


rule download:
    input:
        own_files,
    output:
        # The downloaded files are in the same folder. As outputs they would be deleted if a later one failed.
        f"{RAW}/provenance.json",
    log:
        "results/logs/download/{dataset}.log",
    params:
        out=RAW,
        definition=lambda wildcards: as_json(
            PLAN.download_definition(wildcards.dataset)
        ),
    shell:
        "python -m vsebench download --name {wildcards.dataset} --definition {params.definition:q}"
        " --out {params.out} 2>&1 | tee {log} >&2"


rule network_features:
    input:
        sources("stages.features"),
        network_inputs,
    output:
        # Beside them is a folder of parts, which is no output, so that it outlives a job that was stopped.
        multiext(
            f"{FEATURES}/{{dataset}}/",
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
        options=network_options,
    shell:
        "python -m vsebench features {params.options} --threads {threads} --out {params.out} 2>&1 | tee {log} >&2"


# One rule per data set, because only some have image features or a known truth.
for dataset in PLAN.datasets:
    description = PLAN.prepared(dataset)

    rule:
        name:
            f"prepare_{dataset.replace('-', '_')}"
        input:
            f"data/raw/{dataset}/provenance.json",
            sources("stages.prepare", module_of("formats", description.adapter)),
            list(description.own_files.values()),
        output:
            multiext(f"data/processed/{dataset}/", *PLAN.processed_files(dataset)),
        log:
            f"results/logs/prepare/{dataset}.log",
        resources:
            # The raw files are not inputs, so their size cannot be used. Open Images takes 2.7 GiB, with filters 4.0 GiB.
            mem_mb=5000,
        params:
            dataset=dataset,
            raw=subpath(input[0], parent=True),
            out=subpath(output[0], parent=True),
            definition=literally(as_json(description.definition("files"))),
        shell:
            "python -m vsebench prepare --name {params.dataset} --definition {params.definition:q}"
            " --raw {params.raw} --out {params.out} > {log} 2>&1"


rule download_parents:
    output:
        f"{PARENTS}/provenance.json",
    log:
        "results/logs/download/siblings-{source}.log",
    params:
        out=PARENTS,
        definition=lambda wildcards: as_json(downloaded_parents(wildcards.source)),
    shell:
        "python -m vsebench download --name {wildcards.source} --definition {params.definition:q}"
        " --out {params.out} 2>&1 | tee {log} >&2"


rule siblings:
    input:
        lambda wildcards: sources(
            "stages.siblings",
            module_of("formats", PLAN.siblings[wildcards.dataset].adapter),
        ),
        parents_of_labels,
        labels=f"{PROCESSED}/labels.parquet",
    output:
        table=f"{PROCESSED}/siblings.parquet",
        summary=f"{PROCESSED}/siblings.json",
    log:
        "results/logs/siblings/{dataset}.log",
    params:
        name=lambda wildcards: PLAN.datasets[wildcards.dataset].siblings,
        raw=lambda wildcards: PARENTS.format(
            source=PLAN.datasets[wildcards.dataset].siblings
        ),
        definition=lambda wildcards: as_json(
            PLAN.siblings[wildcards.dataset].definition("files")
        ),
    shell:
        "python -m vsebench siblings --name {params.name:q} --definition {params.definition:q} --raw {params.raw:q}"
        " --labels {input.labels} --out {output.table} --summary {output.summary} > {log} 2>&1"


use rule download_parents as download_words with:
    output:
        f"{WORDS}/provenance.json",
    log:
        "results/logs/download/words-{source}.log",
    params:
        out=WORDS,
        definition=lambda wildcards: as_json(downloaded_words(wildcards.source)),


rule words:
    input:
        lambda wildcards: sources(
            "stages.words", module_of("formats", PLAN.words[wildcards.dataset].adapter)
        ),
        source_of_words,
        labels=f"{PROCESSED}/labels.parquet",
    output:
        vectors=f"{PROCESSED}/words.npz",
        rules=f"{PROCESSED}/words.parquet",
        summary=f"{PROCESSED}/words.json",
    log:
        "results/logs/words/{dataset}.log",
    params:
        name=lambda wildcards: PLAN.datasets[wildcards.dataset].words,
        raw=lambda wildcards: WORDS.format(
            source=PLAN.datasets[wildcards.dataset].words
        ),
        definition=lambda wildcards: as_json(PLAN.words[wildcards.dataset].definition()),
    shell:
        "python -m vsebench words --dataset {wildcards.dataset} --name {params.name} --definition {params.definition:q}"
        " --raw {params.raw} --labels {input.labels} --out {output.vectors} --rules {output.rules}"
        " --summary {output.summary} > {log} 2>&1"


# Two data sets as one, for a protocol that trains on another data set than it tests on.
for place in PLAN.joined:
    tested = f"data/processed/{place.dataset}"
    trained = f"data/processed/{source_of(place.protocol)}"
    files = [Path(path).name for path in PLAN.joined_features(place)[:1]]

    rule:
        name:
            f"join_{place.name.replace('-', '_')}"
        input:
            sources("stages.join"),
            expand(
                "{folder}/{name}",
                folder=[tested, trained],
                name=[
                    "pairs.parquet",
                    "images.parquet",
                    "labels.parquet",
                    "words.npz",
                ],
            ),
            PLAN.joined_features(place),
        output:
            multiext(
                f"{tested}/{place.protocol}/",
                "pairs.parquet",
                "images.parquet",
                "labels.parquet",
                "words.npz",
                "given.parquet",
                *files,
            ),
        log:
            f"results/logs/join/{place.name}.log",
        params:
            tested=tested,
            trained=trained,
            features=(
                " ".join(["--features", *PLAN.joined_features(place)]) if files else ""
            ),
            out=subpath(output[0], parent=True),
        shell:
            "python -m vsebench join --tested {params.tested} --trained {params.trained} {params.features}"
            " --out {params.out} > {log} 2>&1"


if PLAN.words:

    rule gather_words:
        input:
            sources("stages.gather"),
            parts=expand("data/processed/{dataset}/words.json", dataset=PLAN.words),
        output:
            "results/words.json",
        log:
            "results/logs/gather/words.log",
        shell:
            "python -m vsebench gather --inputs {input.parts} --out {output} > {log} 2>&1"


rule gather_datasets:
    input:
        sources("stages.gather"),
        summaries=expand("data/processed/{dataset}/summary.json", dataset=PLAN.datasets),
        about=expand("data/processed/{dataset}/about.json", dataset=PLAN.datasets),
    output:
        "results/datasets.json",
    log:
        "results/logs/gather/datasets.log",
    shell:
        "python -m vsebench gather --inputs {input.summaries} --about {input.about} --out {output} > {log} 2>&1"
