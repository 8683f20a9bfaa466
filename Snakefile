import gc

from snakemake.utils import min_version

from vsebench.core.bytecode import delete_incomplete

min_version("9.0")
delete_incomplete()  # before this process or a job imports such a file

from vsebench import workflow as hooks

# Before the first job, Snakemake makes many objects, which it keeps. The garbage collector would search them in vain,
# which takes a sixth of the time.
gc.disable()


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/split.smk"
include: "workflow/rules/commands.smk"
include: "workflow/rules/fit.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/time.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


# On a cluster, these rules run where Snakemake runs: they take a second or two, or need the network.
localrules:
    all,
    splits,
    accuracy,
    timing,
    claims,
    comparison,
    audit,
    tables,
    figures,
    report,
    about,
    croissant,
    download,
    environment,
    outline,
    gather,
    compare_with_papers,
    audit_papers,
    table,
    figure,
    report_page,


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/audit.csv",
        "results/claims.csv",
        "results/comparison.csv",
        "results/metrics.parquet",
        "results/timing.parquet",
        TABLES,
        FIGURES,
        SPLITS,
        expand("data/processed/{dataset}/croissant.json", dataset=PLAN.datasets),


rule splits:
    input:
        SPLITS,


rule accuracy:
    input:
        "results/metrics.parquet",
        "results/summary.parquet",
        tables_of("accuracy"),


rule timing:
    input:
        "results/timing.parquet",
        tables_of("training_time"),


rule claims:
    input:
        "results/claims.csv",
        tables_of("claims", "claims_summary"),


rule comparison:
    input:
        "results/comparison.csv",


rule audit:
    input:
        "results/audit.csv",
        tables_of("audit", "audit_counts"),


rule tables:
    input:
        TABLES,


rule figures:
    input:
        FIGURES,


rule report:
    input:
        "results/report.html",


onstart:
    gc.freeze()
    gc.enable()
    hooks.discard_leftovers()
    hooks.delete_old_kernels()
    hooks.warn_about_other_run(PLAN.name)
    hooks.discard_of_other_run(PLAN.tables, PLAN.figures)
    hooks.lift_default_rate(workflow.scheduler)
    if workflow.local_exec:  # on a cluster, jobs run on other machines
        job_server.start()


onsuccess:
    made = {str(file) for job in workflow.dag.jobs for file in job.output}
    hooks.print_results(made, len(TABLES) // 3, len(FIGURES) // 3)


onerror:
    failed = getattr(workflow.scheduler, "failed", [])
    # On a cluster several jobs can form a group.
    failed = [job for group in failed for job in getattr(group, "jobs", [group])]
    hooks.print_failures(failed)
    FAILED_ELSEWHERE.update(failed_elsewhere(PLAN, failed))
