# What scripts of tests count. A file in $shown is printed behind a failure.
# shellcheck shell=bash disable=SC2034

passed=0 failed=0 skipped=0 shown=''

check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        if [ "$shown" ]; then sed 's/^/    /' "$shown"; fi
    fi
}
