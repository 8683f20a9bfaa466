# What the shell of every job does first; $BIN is the folder of the Python that runs Snakemake.
set -euo pipefail
export PATH="$BIN:$PATH"

# Snakemake started this shell. Where Snakemake is killed, the job ends too (src/vsebench/__main__.py).
export VSEBENCH_PARENT="$PPID"

# A job that is killed cannot say so in its log, whose name ends the command.
say_if_killed() {
    if [ $? = 137 ]; then
        if [[ ${BASH_EXECUTION_STRING-} =~ " > "([^ ]+)" 2>&1"$ ]]; then
            exec 2>> "${BASH_REMATCH[1]}"
        fi
        echo "vsebench: this job was killed, most likely because memory ran out" >&2
    fi
}
trap say_if_killed EXIT
