#!/usr/bin/env bash
# A made-up column in a copy of the tree: columns.c is its only source, every output has it, and at
# most 5 files have to change.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
most=5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib/checks.sh
. "$root/tests/lib/checks.sh"
output=$work/out

# With the objects of a build, only columns.c is compiled.
cp -a "$root"/{Makefile,include,kernels,src,tests,tools,docs} "$work" 2>/dev/null
mkdir -p "$work/build"
[ ! -d "$root/build/cpu" ] || cp -a "$root/build/cpu" "$work/build"
cd "$work" || exit 1
# shellcheck disable=SC2016 # text for C
python3 - <<'PYTHON'
import pathlib
path = pathlib.Path("src/report/columns.c")
text = path.read_text()
text = text.replace("const struct column columns[]", """static double made_up(struct table_row *x) { return 7 * ms(x); }

const struct column columns[]""", 1)
text = text.replace("    {.name = \"gflops\"", """    {.name = "made_up",
     .head = "made-up",
     .value = made_up,
     .format = cell_number,
     .about = "Seven times ms."},
    {.name = "gflops\"""", 1)
path.write_text(text)
PYTHON
make -s CUDA=0 ${CFLAGS:+CFLAGS="$CFLAGS"} build/cpu/spbench >make.log 2>&1 || { cat make.log; exit 1; }
spbench=build/cpu/spbench records=tests/data/report.jsonl

check 'the text has the column' grep -q '^  algorithm .* made-up ' <("$spbench" report "$records")
check 'its value' grep -q '^  lib1 .* 14.00 ' <("$spbench" report "$records")
check 'Markdown has the column' grep -q '| made-up |' <("$spbench" report -format markdown "$records")
check 'CSV has the column' grep -q ',made_up,' <("$spbench" report -format csv "$records")
check 'JSON has the column' grep -q '"made_up":14,' <("$spbench" report -format json "$records")
check 'help has the column' grep -q '^  made-up  *Seven times ms' <("$spbench" help columns)
check 'the manual page has the column' grep -q 'Seven times ms' <("$spbench" man)

# Files to change: columns.c, and those that show all columns. A field that records lack adds two:
# record.c and the schema.
touched=3
for file in tests/cli/report.test tests/cli/help.test; do
    tests/cli/run.sh "$spbench" "$file" >golden.log 2>&1 || touched=$((touched + 1))
done
others=$(grep -l '^[12]>.*algorithm .*%roof' tests/cli/*.test | grep -vc report.test)
pages=$(grep -l '^<!-- output of: spbench help columns' docs/*.md | wc -l)
touched=$((touched + others + pages))
check "a column changes $touched files, at most $most" [ "$touched" -le "$most" ]
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
