"""Gathered files that are made only if a table, a figure or a claim of a paper reads them, of the rows that it names."""


rule neighbours_of_labels:
    input:
        sources("stages.neighbours_of_labels"),
        rows_read("neighbours_of_labels", "model.npz"),
        labels_read("neighbours_of_labels", "labels.parquet"),
    output:
        "results/neighbours_of_labels.parquet",
    log:
        "results/logs/neighbours_of_labels.log",
    params:
        stage="neighbours_of_labels",
        cases=cases_read("neighbours_of_labels"),
    shell:
        "python -m vsebench {params.stage} --results results --processed data/processed {params.cases} --out {output}"
        " > {log} 2>&1"


use rule neighbours_of_labels as examples with:
    input:
        sources("stages.examples"),
        rows_read("examples", "ranks.parquet", "lists.parquet"),
        labels_read("examples", "labels.parquet", "images.parquet"),
    output:
        "results/examples.parquet",
    log:
        "results/logs/examples.log",
    params:
        stage="examples",
        cases=cases_read("examples"),


use rule neighbours_of_labels as images_from_words with:
    input:
        sources("stages.images_from_words"),
        rows_read("images_from_words", "model.npz"),
        features_read("images_from_words").values(),
        labels_read("images_from_words", "labels.parquet", "images.parquet"),
    output:
        "results/images_from_words.parquet",
    log:
        "results/logs/images_from_words.log",
    params:
        stage="images_from_words",
        cases=scored_read("images_from_words"),


use rule neighbours_of_labels as map_of_vectors with:
    input:
        sources("stages.map_of_vectors"),
        rows_read("map_of_vectors", "model.npz"),
        features_read("map_of_vectors").values(),
        labels_read("map_of_vectors", "labels.parquet", "images.parquet"),
    output:
        "results/map_of_vectors.parquet",
    log:
        "results/logs/map_of_vectors.log",
    params:
        stage="map_of_vectors",
        cases=scored_read("map_of_vectors"),


use rule neighbours_of_labels as label_vectors with:
    input:
        sources("stages.label_vectors"),
        rows_read("label_vectors", "model.npz"),
        labels_read("label_vectors", "labels.parquet"),
    output:
        "results/label_vectors.parquet",
    log:
        "results/logs/label_vectors.log",
    params:
        stage="label_vectors",
        cases=cases_read("label_vectors"),


use rule neighbours_of_labels as label_scores with:
    input:
        sources("stages.label_scores"),
        rows_read("label_scores", "ranks.parquet", "lists.parquet", "decisions.parquet"),
        labels_read("label_scores", "labels.parquet"),
    output:
        "results/label_scores.parquet",
    log:
        "results/logs/label_scores.log",
    params:
        stage="label_scores",
        cases=cases_read("label_scores"),


use rule neighbours_of_labels as pooled_precision with:
    input:
        sources("stages.pooled_precision"),
        rows_read("pooled_precision", "model.npz"),
        features_read("pooled_precision").values(),
        labels_read("pooled_precision", "images.parquet"),
    output:
        "results/pooled_precision.parquet",
    log:
        "results/logs/pooled_precision.log",
    params:
        stage="pooled_precision",
        cases=scored_read("pooled_precision"),


use rule neighbours_of_labels as thresholds_and_difficulty with:
    input:
        sources("stages.thresholds_and_difficulty"),
        rows_read("thresholds_and_difficulty", "model.npz"),
        decided_read("thresholds_and_difficulty", "thresholds.parquet"),
        features_read("thresholds_and_difficulty").values(),
        labels_read("thresholds_and_difficulty", "labels.parquet", "images.parquet"),
    output:
        "results/thresholds_and_difficulty.parquet",
    log:
        "results/logs/thresholds_and_difficulty.log",
    params:
        stage="thresholds_and_difficulty",
        cases=scored_read("thresholds_and_difficulty"),


use rule neighbours_of_labels as precision_at with:
    input:
        sources("stages.precision_at"),
        rows_read("precision_at", "ranks.parquet", "lists.parquet"),
        labels_read("precision_at"),
    output:
        "results/precision_at.parquet",
    log:
        "results/logs/precision_at.log",
    params:
        stage="precision_at",
        cases=cases_read("precision_at"),


use rule neighbours_of_labels as full_sample_loss with:
    input:
        sources("stages.full_sample_loss"),
        rows_read("full_sample_loss", "model.npz", "run.json"),
        labels_read("full_sample_loss"),
    output:
        "results/full_sample_loss.parquet",
    log:
        "results/logs/full_sample_loss.log",
    params:
        stage="full_sample_loss",
        cases=cases_read("full_sample_loss"),


use rule neighbours_of_labels as sampler_distance with:
    input:
        sources("stages.sampler_distance"),
        rows_read("sampler_distance", "model.npz", "run.json"),
        labels_read("sampler_distance"),
    output:
        "results/sampler_distance.parquet",
    log:
        "results/logs/sampler_distance.log",
    params:
        stage="sampler_distance",
        cases=cases_read("sampler_distance"),
