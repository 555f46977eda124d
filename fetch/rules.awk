# Which matrices does a rule name? Reads the collection's index (ssstats.csv) and prints Group/Name,
# a line each. fetch/choose.sh calls it with LC_ALL=C and RULE in the environment; without a rule
# the index is only checked, with -v only=rule the rule, and no index read. usage() of
# fetch_suitesparse.sh describes the rules.
#
# The index: the number of matrices, its date, then a line for each matrix, whose id is its place:
# Group,Name,rows,cols,nnz,real,binary,nd,posdef,psym,nsym,kind[,entries of the pattern]

function fail(message) {
    print message >"/dev/stderr"
    failed = 1
    exit 2
}

function is_number(text) { return text ~ /^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/ }

# id, flops and the numbers of the index, and three that are texts.
function fields_know(    i, count, names) {
    numbers = "id rows cols nnz flops real binary nd posdef psym nsym"
    texts = "group name kind"
    count = split(numbers, names, " ")
    for (i = 1; i <= count; i++) type[names[i]] = "number"
    count = split(texts, names, " ")
    for (i = 1; i <= count; i++) type[names[i]] = "text"
}

function names_number(word) { return word in type && type[word] == "number" }

# One condition: FIELD OPERATOR VALUE without blanks.
function condition_parse(word,    field, op, value) {
    if (!match(word, /[<>=!~]+/)) fail("'" word "': a condition such as nnz<1e7 or kind~graph is wanted")
    field = substr(word, 1, RSTART - 1)
    op = substr(word, RSTART, RLENGTH)
    value = substr(word, RSTART + RLENGTH)
    if (!(field in type)) fail("'" word "': no field '" field "'; there are " numbers " " texts)
    if (type[field] == "number" && op !~ /^(<|<=|>|>=|=|!=)$/)
        fail("'" word "': " field " is a number; < <= > >= = != compare it")
    if (type[field] == "text" && op !~ /^(=|!=|~|!~)$/)
        fail("'" word "': " field " is a text; = != ~ !~ compare it")
    if (type[field] == "number" && !is_number(value) && !names_number(value))
        fail("'" word "': a number, or one of " numbers ", is wanted behind " op)
    if (value == "") fail("'" word "': a text is wanted behind " op)
    conditions++
    left[conditions] = field
    operator[conditions] = op
    right[conditions] = tolower(value)
}

# CONDITION... [top N by FIELD | random N [seed S]]
function rule_parse(rule,    count, word, i) {
    count = split(rule, word, " ")
    if (count == 0) fail("an empty rule; one such as 'nnz<1e7 kind~graph' is wanted")
    for (i = 1; i <= count; i++) {
        if (word[i] != "top" && word[i] != "random") {
            condition_parse(word[i])
            continue
        }
        choice = word[i]
        chosen = word[++i]
        if (chosen !~ /^[1-9][0-9]*$/) fail("'" choice " " chosen "': a number of matrices is wanted behind " choice)
        chosen += 0
        if (choice == "top") {
            if (word[i + 1] != "by" || !names_number(word[i + 2]))
                fail("'top " chosen "': 'by' and one of " numbers " are wanted behind it")
            by = word[i + 2]
            i += 2
        } else if (word[i + 1] == "seed") {
            i += 2
            if (word[i] !~ /^[0-9]+$/ || word[i] + 0 >= 2147483647)
                fail("'seed " word[i] "': a number from 0 to 2147483646 is wanted")
            seed = word[i] + 0
        }
        if (i < count) fail("'" word[i + 1] "': nothing may stand behind " choice)
    }
}

# ~ : the text holds one of those in the value, parted by |; ^ is its begin, $ its end.
function holds(text, value,    count, part, i) {
    count = split(value, part, "|")
    for (i = 1; i <= count; i++)
        if (part[i] != "" && index("^" text "$", part[i])) return 1
    return 0
}

function fulfils(c,    a, b, op) {
    op = operator[c]
    if (type[left[c]] == "text") {
        a = tolower(value_of[left[c]])
        if (op == "~") return holds(a, right[c])
        if (op == "!~") return !holds(a, right[c])
        return op == "=" ? a "" == right[c] "" : a "" != right[c] ""
    }
    a = value_of[left[c]] + 0
    b = (names_number(right[c]) ? value_of[right[c]] : right[c]) + 0
    if (op == "<") return a < b
    if (op == "<=") return a <= b
    if (op == ">") return a > b
    if (op == ">=") return a >= b
    return op == "=" ? a == b : a != b
}

# Of the hits: by descending value, else by name in the order of its bytes; both leave equal ones
# in the index's order.
function before(i, j) {
    if (choice == "random") return hit[i] "" < hit[j] ""
    return key[i] != key[j] ? key[i] > key[j] : i < j
}

function hits_sort(    gap, i, j, this) {
    for (i = 1; i <= hits; i++) order[i] = i
    for (gap = 1; gap < hits; gap = 3 * gap + 1) {}
    for (; gap >= 1; gap = int(gap / 3))
        for (i = gap + 1; i <= hits; i++) {
            this = order[i]
            for (j = i; j > gap && before(this, order[j - gap]); j -= gap) order[j] = order[j - gap]
            order[j] = this
        }
}

# The generator of Park and Miller with the multiplier 48271: all products are below 2^53, so every
# awk has the same numbers. Seeds near each other begin alike: the first ten are left out.
function draw_seed(    i) {
    state = seed + 1
    for (i = 0; i < 10; i++) draw(1)
}
function draw(n) { # 0 to n - 1
    state = (state * 48271) % 2147483647
    return int(state * n / 2147483647)
}

function hits_shuffle(    i, j, swap) {
    draw_seed()
    for (i = 1; i <= chosen && i < hits; i++) {
        j = i + draw(hits - i + 1)
        swap = order[i]
        order[i] = order[j]
        order[j] = swap
    }
}

BEGIN {
    FS = ","
    seed = 1
    fields_know()
    if ("RULE" in ENVIRON) rule_parse(ENVIRON["RULE"])
    if (only == "rule") exit 0
}

{ sub(/\r$/, "") }

FNR == 1 {
    if ($0 !~ /^[0-9]+$/) fail("line 1 is not the number of matrices")
    announced = $0 + 0
}
FNR <= 2 || NF == 0 { next }

{
    if (NF < 12) fail("line " FNR " has " NF " fields, 12 or 13 are wanted")
    # A kind might have commas in it.
    last = NF > 12 && is_number($NF) ? NF - 1 : NF
    kind = $12
    for (f = 13; f <= last; f++) kind = kind "," $f
    if (!is_number($3) || !is_number($4) || !is_number($5))
        fail("line " FNR " has no rows, columns, nonzeros")
    matrices++
    # Names become those of files.
    if ($1 !~ /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/ || $2 !~ /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/) {
        if ("RULE" in ENVIRON)
            print "line " FNR " of the index is left out: '" $1 "/" $2 "' is no name for a file" >"/dev/stderr"
        next
    }
    value_of["id"] = FNR - 2
    value_of["group"] = $1
    value_of["name"] = $2
    value_of["rows"] = $3
    value_of["cols"] = $4
    value_of["nnz"] = $5
    # Of A*A^T at the least: columns of c nonzeros make the sum of c^2 products, which is smallest
    # where all are equally long. A*A takes as much where the pattern is symmetric.
    value_of["flops"] = $4 > 0 ? 2 * $5 * $5 / $4 : 0
    value_of["real"] = $6
    value_of["binary"] = $7
    value_of["nd"] = $8
    value_of["posdef"] = $9
    value_of["psym"] = $10
    value_of["nsym"] = $11
    value_of["kind"] = kind
    for (c = 1; c <= conditions; c++)
        if (!fulfils(c)) next
    hits++
    hit[hits] = $1 "/" $2
    if (by != "") key[hits] = value_of[by] + 0
}

END {
    if (failed) exit 2
    if (only == "rule") exit 0
    if (announced == 0) fail("it is empty")
    if (matrices < announced) fail("it announces " announced " matrices and has " matrices + 0 ": it is cut off")
    if (!("RULE" in ENVIRON)) exit 0
    if (choice == "") {
        for (i = 1; i <= hits; i++) print hit[i]
        exit 0
    }
    hits_sort()
    if (choice == "random") hits_shuffle()
    for (i = 1; i <= chosen && i <= hits; i++) print hit[order[i]]
}
