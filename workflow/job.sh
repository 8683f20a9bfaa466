# The shell of every job runs this first. $BIN is the folder of the Python that runs Snakemake.
set -euo pipefail
export PATH="$BIN:$PATH"
START_JOB="$(dirname "${BASH_SOURCE[0]}")/start_job.py"

# Snakemake started this shell. When Snakemake is killed, the job ends too (src/vsebench/cli.py).
export VSEBENCH_PARENT="$PPID"

# A process that is killed cannot write this in its log. This function replaces the command `python` of the rules and
# writes it there: what a rule redirects (`> {log} 2>&1`, `2>&1 | tee {log}`) is redirected for the function, too.
python() {
    local status=0
    # A job with one thread starts from the server that has imported the packages (src/vsebench/job_server.py); one
    # with more needs a Python of its own, since the matrix library sets its threads when it is loaded.
    if [ "${1-} ${2-}" = "-m vsebench" ] && [ -S "${VSEBENCH_SERVER-}" ] && [ "${OMP_NUM_THREADS-}" = 1 ]; then
        shift 2
        command python -I -S "$START_JOB" "$VSEBENCH_SERVER" "$@" || status=$?
    else
        command python "$@" || status=$?
    fi
    if [ "$status" = 137 ]; then
        echo "vsebench: this job was killed, most likely because memory ran out" >&2
    fi
    return "$status"
}
