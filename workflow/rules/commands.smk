"""Run users' commands, which train on an exported split and write scores (docs/outside.md)."""


rule export_split:
    input:
        unpack(job_inputs("export_split")),
        split=multiext(f"{SPLIT}/", *FIT_FILES),
    output:
        multiext(f"{SPLIT}/exported/", *EXPORTED),
    log:
        f"{SPLIT}/exported.log",
    resources:
        mem_mb=memory(50),
    params:
        split=split_folder,
        options=job_options("export_split"),
        out=subpath(output[0], parent=True),
    shell:
        "python -m vsebench stage export_split --split {params.split} --dataset {wildcards.dataset}"
        " --protocol {wildcards.protocol} --seed {wildcards.seed} {params.options} --out {params.out} > {log} 2>&1"


rule environment:
    output:
        "data/environments/{name}/environment.json",
    log:
        "results/logs/environments/{name}.log",
    wildcard_constraints:
        name="[0-9a-f]+",
    params:
        options=job_options("environment"),
    shell:
        "python -m vsebench stage environment {params.options} --out {output} > {log} 2>&1"


# One rule per command, because the files of scores have different suffixes, and because each rule names the software
# that Snakemake deploys for it.
for variant, method in PLAN.commands.items():

    rule:
        name:
            f"command_{variant}"
        input:
            unpack(job_inputs("command")),
        output:
            scores=f"{MODEL}/scores{method.written_suffix}",
            record=f"{MODEL}/command.json",
            timing=f"{MODEL}/timing.parquet",
        log:
            f"{MODEL}/command.log",
        wildcard_constraints:
            variant=variant,
        conda:
            conda_of(PLAN, variant)
        threads: method.threads
        resources:
            mem_mb=memory(80),
            runtime=120,
        params:
            options=job_options("command"),
        shell:
            "python -m vsebench stage command --dataset {wildcards.dataset} --protocol {wildcards.protocol}"
            " --variant {wildcards.variant} --seed {wildcards.seed} --threads {threads} {params.options} --log {log}"
            " --out {output.scores} > {log} 2>&1"

    if method.container:

        # Only the command runs in the container, because this package is not installed there.
        rule:
            name:
                f"container_{variant}"
            input:
                unpack(job_inputs("run_in_container")),
            output:
                directory(f"{MODEL}/container"),
            log:
                f"{MODEL}/container.log",
            benchmark:
                f"{MODEL}/container.tsv"
            wildcard_constraints:
                variant=variant,
            container:
                method.container
            threads: method.threads
            resources:
                mem_mb=memory(80),
                runtime=120,
            params:
                command=job_content("run_in_container"),
                folder=os.path.relpath(PLAN.root),
            shell:
                'mkdir {output} && (cd {params.folder:q} && PATH="${{PATH#"$BIN:"}}" sh -c {params.command:q})'
                ' > {log} 2>&1 || {{ status=$?; echo "vsebench: {wildcards.variant} on {wildcards.dataset}'
                " ({wildcards.protocol}, seed {wildcards.seed}): the command ended with exit status $status;"
                ' the output of the command is in {log}" >> {log}; exit $status; }}'
