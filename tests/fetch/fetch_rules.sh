# Rules of fetch_suitesparse.sh and the index that they are resolved with. Part of test_fetch.sh.
# shellcheck shell=bash disable=SC2154,SC2034

small=$root/tests/data/ssstats_small.csv
cp "$small" "$work/ssstats.csv"
# rule RULE NAMES: what the rule names, parted by blanks
rule() {
    RULE=$1 LC_ALL=C awk -f "$root/fetch/rules.awk" "$work/ssstats.csv" >"$work/names" 2>"$work/err"
    check "rule $1: $(tr '\n' ' ' <"$work/names")" [ "$(paste -s -d ' ' "$work/names")" = "$2" ]
}
large='HB/bcsstk17 HB/bcsstk25 HB/bcsstk30 Boeing/pwtk Gupta/gupta3 SNAP/loc-Gowalla Newman/twin DIMACS10/twin LAW/in-2004 Schenk/nlpkkt160'
rule 'rows>=1e4 cols>=1e4 nnz>=1e5' "$large Odd/edge"
rule ' rows>=10000  cols>1e4 nnz>=100000 ' "$large"
rule 'nnz<=126 rows!=5' HB/ibm32
rule 'cols<1' Odd/empty
rule 'rows<cols nnz<1e5' HB/gemat1
rule 'psym=1 nsym<1e-3 rows<2e4' ''
rule 'kind~GRAPH nnz<1e4' 'HB/gre_1107 HB/ibm32'
rule 'kind~graph$ kind!~^undirected|^weighted' 'HB/gre_1107 HB/ibm32 LAW/in-2004'
rule 'kind~,' Odd/commas
rule 'group=hb name!=1138_bus nnz<1500' 'HB/arc130 HB/ash219 HB/ibm32'
rule 'name~^bcsstk[0' '' # texts, no patterns
rule 'id<=2' 'HB/1138_bus HB/abb313'
rule 'top 3 by nnz' 'Schenk/nlpkkt160 LAW/in-2004 Boeing/pwtk'
rule 'posdef=1 top 2 by rows' 'Boeing/pwtk Gupta/gupta3'
rule 'name=twin top 9 by nnz' 'Newman/twin DIMACS10/twin'
rule 'binary=1 nd=1 real=1' 'HB/bcsstk30 HB/jagmesh7'
# Of a diagonal matrix of blocks the bound is what A*A takes: gupta3 has 9323427^2/16783*2 = 1.04e10.
rule 'rows=cols psym=1 flops>=1.035e10' 'Gupta/gupta3 Schenk/nlpkkt160'
rule 'name=gupta3 flops>1.0358e10 flops<1.0360e10' Gupta/gupta3

# The choice at random: the numbers of the generator (x * 48271 mod 2^31 - 1, from seed + 1, ten left
# out) were worked out in another language; order and number of the index do not matter.
expected=$(python3 - "$small" 5 1 <<'END'
import sys
names = sorted("/".join(line.split(",")[:2]) for line in open(sys.argv[1]).read().splitlines()[2:])
n, x = int(sys.argv[2]), int(sys.argv[3]) + 1
for i in range(10):
    x = x * 48271 % (2**31 - 1)
for i in range(n):
    x = x * 48271 % (2**31 - 1)
    j = i + x * (len(names) - i) // (2**31 - 1)
    names[i], names[j] = names[j], names[i]
print(" ".join(names[:n]))
END
)
rule 'random 5 seed 1' "$expected"
rule 'random 5' "$expected"
{ head -n 2 "$small" && tail -n +3 "$small" | sort -r; } >"$work/ssstats.csv"
rule 'random 5 seed 1' "$expected"
cp "$small" "$work/ssstats.csv"
names_of() { RULE=$1 LC_ALL=C awk -f "$root/fetch/rules.awk" "$work/ssstats.csv" | paste -s -d ' '; }
check 'random: another seed, others' [ "$(names_of 'random 5 seed 2')" != "$expected" ]
rule ' kind~graph  random 99 seed 7 ' "$(names_of 'kind~graph random 7 seed 7')"

all='id rows cols nnz flops real binary nd posdef psym nsym'
# wrong_rule RULE MESSAGE
wrong_rule() {
    RULE=$1 LC_ALL=C awk -v only=rule -f "$root/fetch/rules.awk" >"$work/names" 2>"$work/err"
    check "rule $1: status" [ $? = 2 ]
    check "rule $1: message" [ "$(cat "$work/err")" = "$2" ]
}
wrong_rule 'nnx<3' "'nnx<3': no field 'nnx'; there are $all group name kind"
wrong_rule 'nnz' "'nnz': a condition such as nnz<1e7 or kind~graph is wanted"
wrong_rule 'nnz<<3' "'nnz<<3': nnz is a number; < <= > >= = != compare it"
wrong_rule 'nnz~3' "'nnz~3': nnz is a number; < <= > >= = != compare it"
wrong_rule 'nnz<' "'nnz<': a number, or one of $all, is wanted behind <"
wrong_rule 'nnz<1e' "'nnz<1e': a number, or one of $all, is wanted behind <"
wrong_rule 'nnz<name' "'nnz<name': a number, or one of $all, is wanted behind <"
wrong_rule 'kind<x' "'kind<x': kind is a text; = != ~ !~ compare it"
wrong_rule 'kind~' "'kind~': a text is wanted behind ~"
wrong_rule 'top 0 by nnz' "'top 0': a number of matrices is wanted behind top"
wrong_rule 'top 3' "'top 3': 'by' and one of $all are wanted behind it"
wrong_rule 'top 3 by kind' "'top 3': 'by' and one of $all are wanted behind it"
wrong_rule 'random' "'random ': a number of matrices is wanted behind random"
wrong_rule 'random 3 seed x' "'seed x': a number from 0 to 2147483646 is wanted"
wrong_rule 'random 3 nnz<3' "'nnz<3': nothing may stand behind random"
wrong_rule ' ' "an empty rule; one such as 'nnz<1e7 kind~graph' is wanted"
# A rule is data: nothing in it is run.
# shellcheck disable=SC2016
fetch -n -w 'name~$(touch${IFS}'"$work"'/run)|`touch${IFS}'"$work"'/run`|"};system("touch'"$work"'/run")' "$work/rules"
check 'rule: nothing is run' [ ! -e "$work/run" ]
wrong 'rule of -w' "-w 'nnz<1 top 0': 'top 0': a number of matrices is wanted behind top" -w 'nnz<1 top 0' "$work/rules"
wrong 'rule in the list' "-s broken: 'nnz<<3': nnz is a number; < <= > >= = != compare it" -s broken "$work/rules"
fetch -n -w 'nnz<130' "$work/rules"
check 'rule, -n: status' status_is 0
check 'rule, -n: the matrices' prints "would fetch $base/HB/ibm32.tar.gz ?
would fetch $base/Odd/empty.tar.gz ?"
check 'wrong rules and -n make nothing' [ ! -e "$work/rules" ]

# A set by a rule is fetched, and leaves a list; the index stays in the folder until -u.
add Newman twin twin.mtx "$banner of Newman"
add DIMACS10 twin twin.mtx "$banner of DIMACS10"
fetch -s twins,twins "$work/t"
check 'set by rule: status' status_is 0
check 'set by rule: files' holds "$work/t" './DIMACS10-twin.mtx ./ssstats.csv ./twin.mtx ./twins.list '
check 'set by rule: the list' [ "$(cat "$work/t/twins.list")" = '# Of the index of 31-Oct-2023 18:12:37.
# name=twin
Newman/twin twins
DIMACS10-twin twins # DIMACS10/twin' ]
check 'index: first time' says 'index of 31-Oct-2023 18:12:37, fetched now'
sed 's/^31-Oct-2023/01-Nov-2024/' "$small" >"$work/ssstats.csv"
fetch -w 'name=twin group~new' -w 'name=twin group~dim' "$work/t" Newman/twin
check 'rules: any of them' says '0 fetched, 2 there already, 0 failed'
check 'rules: the list' [ "$(tail -n 4 "$work/t/where.list")" = '# name=twin group~new
Newman/twin where
# name=twin group~dim
DIMACS10-twin where # DIMACS10/twin' ]
check 'index: kept' says "index of 31-Oct-2023 18:12:37, fetched $(date +%F)"
fetch -u -w 'name=twin' "$work/t"
check 'index: -u' says 'index of 01-Nov-2024 18:12:37, fetched now'
check 'index: -u, kept' same "$work/ssstats.csv" "$work/t/ssstats.csv"
echo '<html>' >"$work/ssstats.csv"
fetch -u -w 'name=twin' "$work/t"
check 'index: error page: status' status_is 1
check 'index: error page: said' says "ssstats.csv is not the index: line 1 is not the number of matrices; the one of 01-Nov-2024 18:12:37 is still there"
check 'index: error page: the old one is kept' grep -q '^01-Nov-2024' "$work/t/ssstats.csv"
head -n 9 "$small" >"$work/ssstats.csv"
fetch -w 'name=twin' "$work/u"
check 'index: cut off: said' says 'is not the index: it announces 24 matrices and has 7: it is cut off'
check 'index: cut off: nothing is kept' holds "$work/u" ''
head -n 9 "$small" >"$work/t/ssstats.csv"
fetch -w 'name=twin' "$work/t"
check 'index: cut off in the folder: said' says "$work/t/ssstats.csv: it announces 24 matrices and has 7: it is cut off; -u fetches it anew"
# bad_index WHAT MESSAGE SED-COMMAND
bad_index() {
    sed "$3" "$small" >"$work/ssstats.csv"
    fetch -n -w 'name=twin' "$work/u"
    check "index: $1" says "is not the index: $2"
}
bad_index 'fields' 'line 5 has 4 fields, 12 or 13 are wanted' '5s/.*/HB,x,3,4/'
bad_index 'empty' 'it is empty' 'd'
bad_index 'no number' 'line 5 has no rows, columns, nonzeros' '5s/,1037,/,many,/'
index_address=file://$work/nowhere fetch -w 'name=twin' "$work/u"
check 'index: not there: status' status_is 1
check 'index: not there: said' says 'the index of the collection cannot be fetched: curl: (37)'
# Names that would be paths or options are left out.
sed 's|HB,abb313|..,../x|; s/arc130/-x/' "$small" >"$work/ssstats.csv"
fetch -n -w 'id<=4' "$work/u"
check 'index: odd names are left out' prints "would fetch $base/HB/1138_bus.tar.gz ?
would fetch $base/HB/ash219.tar.gz ?"
check 'index: odd names, said' says "line 4 of the index is left out: '../../x' is no name for a file"
check 'index: option as a name, said' says "line 5 of the index is left out: 'HB/-x' is no name for a file"
# As it was until 2018 (12 fields), and from a machine with other ends of lines.
sed 's/\([a-z]\),[0-9]*$/\1/; s/$/\r/' "$small" >"$work/ssstats.csv"
rule 'kind~problem$ top 3 by nnz' 'Schenk/nlpkkt160 Boeing/pwtk Gupta/gupta3'
cp "$small" "$work/ssstats.csv"

# The list of the project: every line has a name and sets, no name comes twice, the rules are right.
bad_lines() {
    sed 's/#.*//' "$root/matrices.txt" |
        awk 'NF && (NF < 2 || $1 !~ /^(gen:|@[a-z0-9-]+$|[^\/]+\/[^\/]+$)/ || seen[$1]++)'
}
check 'matrices.txt' [ "$(bad_lines)" = '' ]
mapfile -t names < <(sed -n 's/^@\([^ ]*\).*/\1/p' "$root/matrices.txt")
check 'matrices.txt has rules' [ "${#names[@]}" -ge 3 ]
fetch -n -l "$root/matrices.txt" -s "$(IFS=, && echo "${names[*]}")" "$work/rules"
check 'matrices.txt: rules' status_is 0
check 'matrices.txt: paper 4' says "-s paper4-all: 11 matrices"
set_size() { # SET
    sed 's/#.*//' "$root/matrices.txt" | awk -v set="$1" '{ for (f = 2; f <= NF; f++) n += $f == set } END { print n + 0 }'
}
check 'matrices.txt: the 142 of paper 5' [ "$(set_size paper5-142)" = 142 ]
check 'matrices.txt: the 18 and one of paper 5' [ "$(set_size paper5)" = 19 ]
