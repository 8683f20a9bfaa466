"""Hold out test and validation labels, or images."""


rule split:
    input:
        unpack(job_inputs("split")),
    output:
        multiext(f"{SPLIT}/", *SPLIT_NAMES),
    log:
        f"{SPLIT}/split.log",
    resources:
        mem_mb=memory(50),
    params:
        options=job_options("split"),
        out=SPLIT,
    shell:
        "python -m vsebench stage split {params.options} --protocol {wildcards.protocol} --seed {wildcards.seed}"
        " --out {params.out} > {log} 2>&1"
