"""Time the methods, and measure how times grow with the data, while no other job runs.

These jobs have a higher priority than others, so that they run one after another; afterwards, other jobs can use all
cores.
"""


rule time_methods:
    input:
        unpack(job_inputs("time_methods")),
    output:
        f"{TASK}/timing.parquet",
    log:
        f"{TASK}/timing.log",
    priority: 1
    threads: 1
    resources:
        slot=100,
        mem_mb=memory(80),
        runtime=120,
    params:
        options=job_options("time_methods"),
    shell:
        "python -m vsebench stage time --results results --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
        " {params.options} --out {output} > {log} 2>&1"


if PLAN.config.scaling:

    rule scale:
        input:
            unpack(job_inputs("scale")),
            dataset=os.path.relpath(
                ROOT / "config" / "datasets" / f"{PLAN.config.scaling.dataset}.yaml"
            ),
        output:
            "results/scaling.parquet",
        log:
            "results/logs/scaling.log",
        priority: 1
        threads: 1
        resources:
            slot=100,
            runtime=120,
        params:
            options=job_options("scale"),
        shell:
            "python -m vsebench stage scale --dataset {input.dataset:q} {params.options} --out {output} > {log} 2>&1"
