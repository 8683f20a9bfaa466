"""Hold out test and validation labels, or images."""


rule split:
    input:
        split_from,
        lambda wildcards: sources("stages.split", protocol_module(wildcards)),
        split_words,
    output:
        multiext(f"{SPLIT}/", *SPLIT_NAMES),
    log:
        f"{SPLIT}/split.log",
    resources:
        mem_mb=memory(50),
    params:
        processed=subpath(input[0], parent=True),
        words=split_words_option,
        out=SPLIT,
    shell:
        "python -m vsebench split --processed {params.processed} {params.words} --protocol {wildcards.protocol}"
        " --seed {wildcards.seed} --out {params.out} > {log} 2>&1"
