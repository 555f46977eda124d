# What scripts of tests count. Where a script sets $output, the output of the command of a check is
# written there. A file in $shown is printed behind a failure.
# shellcheck shell=bash disable=SC2034

passed=0 failed=0 skipped=0 shown='' output=''

run_command() { if [ "$output" ]; then "$@" >"$output" 2>&1; else "$@"; fi; }
check() { # check WHAT COMMAND...
    if run_command "${@:2}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
        if [ "$shown$output" ]; then sed 's/^/    /' "${shown:-$output}" | tail -n 20; fi
    fi
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1"
}
