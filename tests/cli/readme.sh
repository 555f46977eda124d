#!/usr/bin/env bash
# The README names every option and every command: readme.sh [SPBENCH]. The names come from the
# program's own help, that is, from its table.
set -u
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-$here/../../spbench}
readme=$here/../../README.md
if [ ! -e "$readme" ]; then
    echo 'skipped: there is no README.md'
    echo '0 passed, 0 failed, 1 skipped'
    exit 0
fi
passed=0 failed=0

# has WHAT PATTERN: the README has a match of this extended regular expression.
has() {
    if grep -qE -- "$2" "$readme"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: README.md does not mention $1"
    fi
}

for option in $("$binary" help run | sed -n 's/^  -\([a-z-]*\) .*/\1/p'); do
    has "-$option" "(^|[^a-z-])--?$option([^a-z-]|\$)"
done
for command in $("$binary" help | sed -n 's/^  spbench \([a-z]*\) .*/\1/p'); do
    has "spbench $command" "spbench $command|\`$command\`"
done
[ "$passed" -gt 0 ] || [ "$failed" -gt 0 ] || { failed=1 && echo 'FAILED: the help names nothing'; }
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
