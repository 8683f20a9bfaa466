# The shell of each job runs this file first. $BIN is the folder of the Python that runs Snakemake.
set -euo pipefail
export PATH="$BIN:$PATH"
START_JOB="$(dirname "${BASH_SOURCE[0]}")/start_job.py"

# The parent of this shell is Snakemake. If Snakemake is killed, the job ends, too (src/vsebench/cli.py).
export VSEBENCH_PARENT="$PPID"

# A killed process cannot write to its log that it was killed. So this function, which replaces the command `python` in
# the rules, writes it: redirections in a rule (`> {log} 2>&1`, `2>&1 | tee {log}`) also apply to the function's output.
python() {
    local status=0
    # A job with one thread starts from the server that has imported the packages (src/vsebench/job_server.py). A job
    # with more threads needs its own Python, because the matrix library sets its number of threads when it is loaded.
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

# Write a text to a file: `write_text FILE TEXT`. The file gets its name when it is complete. If writing fails, for
# example because the disk is full, there is no such file. A temporary file of a killed process is deleted when the next
# run starts.
write_text() {
    local temporary="${1%/*}/.${1##*/}.$$.tmp.json"
    printf '%s\n' "$2" > "$temporary" && mv "$temporary" "$1" && return
    rm -f "$temporary"
    return 1
}
