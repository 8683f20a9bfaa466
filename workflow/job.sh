# The shell of every job runs this first. $BIN is the folder of the Python that runs Snakemake.
set -euo pipefail
export PATH="$BIN:$PATH"

# Snakemake started this shell. When Snakemake is killed, the job ends too (src/vsebench/cli.py).
export VSEBENCH_PARENT="$PPID"

# A process that is killed cannot write this in its log. This function replaces the command `python` of the rules and
# writes it there: what a rule redirects (`> {log} 2>&1`, `2>&1 | tee {log}`) is redirected for the function, too.
python() {
    local status=0
    command python "$@" || status=$?
    if [ "$status" = 137 ]; then
        echo "vsebench: this job was killed, most likely because memory ran out" >&2
    fi
    return "$status"
}
