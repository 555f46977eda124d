// spbench completion bash: prints a completion script, made from the tables of commands and
// options. bash completes all other words, such as files.
#include "cli/commands/request.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "data/gen.h"
#include "records/record.h"

// Fixed part of the script.
static const char body[] =
    "_spbench_add() { # HEAD TAIL WORD...: offers the words that begin with TAIL, behind HEAD\n"
    "    local head=$1 tail=$2 word\n"
    "    shift 2\n"
    "    for word; do\n"
    "        [[ $word == \"$tail\"* ]] || continue\n"
    "        COMPREPLY+=(\"$head$word\")\n"
    "        # What is to go on: a size, or a value.\n"
    "        if [[ $word == *[:=] ]]; then compopt -o nospace 2>/dev/null; fi\n"
    "    done\n"
    "}\n"
    "\n"
    "_spbench_narrow() { # OPTION WORD...: keeps the values that go with the words before them\n"
    "    local by word name item given='' kept=' '\n"
    "    local -a all items\n"
    "    case $1 in alg) by=op ;; opt) by=alg ;; *) return ;; esac\n"
    "    while shift && (($#)); do\n"
    "        word=${1#-} word=${word#-}\n"
    "        if [[ $1 == -* && $word == \"$by=\"* ]]; then given+=,${word#*=}; fi\n"
    "        if [[ $1 == -* && $word == \"$by\" ]]; then given+=,${2-}; fi\n"
    "    done\n"
    "    given=${given#,} given=${given//[\\'\\\"]/} all=(\"${_spbench_reply[@]}\")\n"
    "    IFS=, read -ra items <<<\"$given\"\n"
    "    if [[ $by == op ]]; then\n"
    "        _spbench_algorithms \"$given\"\n"
    "    elif [[ -n $given && \" ${items[*]} \" != *' all '* ]]; then\n"
    "        _spbench_words alg\n"
    "        for name in \"${_spbench_reply[@]}\"; do\n"
    "            for item in \"${items[@]}\"; do\n"
    "                # shellcheck disable=SC2053  # a pattern is what it is\n"
    "                if [[ $name == $item ]]; then _spbench_options_of \"$name\"; fi\n"
    "            done\n"
    "        done\n"
    "        _spbench_reply=()\n"
    "        for name in \"${all[@]}\"; do\n"
    "            if [[ $kept == *\" $name \"* ]]; then _spbench_reply+=(\"$name\"); fi\n"
    "        done\n"
    "    fi\n"
    "}\n"
    "\n"
    "_spbench() {\n"
    "    local IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT}\n"
    "    local cur prev command=run option='' value='' dash=- strip i\n"
    "    local -a words\n"
    "    COMPREPLY=()\n"
    "    # Not COMP_WORDS, which are cut at each = and colon.\n"
    "    read -ra words <<<\"$line\"\n"
    "    if [[ $line == *[[:space:]] ]]; then words+=(''); fi\n"
    "    i=$((${#words[@]} - 1))\n"
    "    if ((i < 1)); then return; fi\n"
    "    cur=${words[i]} prev=${words[i - 1]}\n"
    "    if ((i > 1)) && [[ \" $_spbench_commands \" == *\" ${words[1]} \"* ]]; then\n"
    "        command=${words[1]}\n"
    "    fi\n"
    "    if [[ $cur == -*=* ]]; then\n"
    "        option=${cur%%=*} value=${cur#*=}\n"
    "    elif ((i > 1)) && [[ $prev == -?* && $prev != *=* ]]; then\n"
    "        option=$prev value=$cur\n"
    "    fi\n"
    "    option=${option#-} option=${option#-}\n"
    "    if [[ -n $option ]] && _spbench_takes \"$option\"; then\n"
    "        # Of a list the last item.\n"
    "        _spbench_words \"$option\"\n"
    "        _spbench_narrow \"$option\" \"${words[@]:1:i-1}\"\n"
    "        local head=${cur%\"$value\"}\n"
    "        if [[ $value == *,* ]]; then head+=${value%,*}, value=${value##*,}; fi\n"
    "        _spbench_add \"$head\" \"$value\" \"${_spbench_reply[@]}\"\n"
    "    elif [[ $cur == -* && \" ${words[*]:1:i-1} \" != *' -- '* ]]; then\n"
    "        if [[ $cur == --* ]]; then dash=--; fi\n"
    "        _spbench_options \"$command\"\n"
    "        _spbench_add '' \"$cur\" \"${_spbench_reply[@]/#/$dash}\"\n"
    "    else\n"
    "        if ((i == 1)); then _spbench_add '' \"$cur\" $_spbench_commands; fi\n"
    "        _spbench_operands \"$command\"\n"
    "        # Files as well, unless there is nothing yet to choose them by.\n"
    "        if [[ -n $cur ]]; then\n"
    "            _spbench_add '' \"$cur\" \"${_spbench_reply[@]}\"\n"
    "            if ((${#COMPREPLY[@]})) && [[ $cur != *:* ]]; then\n"
    "                mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "            fi\n"
    "        elif ((i > 1)) && [[ ${_spbench_reply[0]-} != gen:* ]]; then\n"
    "            _spbench_add '' '' \"${_spbench_reply[@]}\"\n"
    "        fi\n"
    "    fi\n"
    "    # Readline replaces what stands behind the last = or colon.\n"
    "    if [[ $cur == *\"$2\" ]]; then\n"
    "        strip=${cur%\"$2\"}\n"
    "        for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"$strip\"}; done\n"
    "    fi\n"
    "}\n"
    "complete -o bashdefault -o default -F _spbench spbench\n";

// Prints a quoted word. Words are names, numbers and "name=", so no further escapes are needed.
static void print_quoted(void *to, const char *word)
{
    (void)to;
    printf(" '%s'", word);
}

static void print_commands(void)
{
    const struct command_info *c;
    printf("_spbench_commands='");
    for (int i = 0; (c = command_shown(i)); i++) printf("%s%s", i ? " " : "", c->name);
    printf("'\n");
}

static void print_options(void)
{
    const struct command_info *c;
    struct option_shown s;
    printf("\n_spbench_options() { # COMMAND\n    case $1 in\n");
    for (int i = 0; (c = command_shown(i)); i++) {
        printf("    %s) _spbench_reply=(", c->name);
        for (int k = 0; option_show(c->id, k, &s); k++) printf("%s%s", k ? " " : "", s.name);
        printf(") ;;\n");
    }
    printf("    esac\n}\n");
}

static void print_taking(void)
{
    const struct command_info *c;
    struct option_shown s;
    printf("\n_spbench_takes() { # OPTION: whether a value follows\n"
           "    [[ ' ");
    for (int i = 0; (c = command_shown(i)); i++)
        for (int k = 0; option_show(c->id, k, &s); k++)
            if (s.value && !option_shown_before(i, s.name)) printf("%s ", s.name);
    printf("' == *\" $1 \"* ]]\n}\n");
}

static void note_any(void *to, const char *word)
{
    (void)word;
    *(bool *)to = true;
}

static void print_words(void)
{
    const struct command_info *c;
    struct option_shown s;
    printf("\n_spbench_words() { # OPTION: its values, if they are words\n    _spbench_reply=()\n"
           "    case $1 in\n");
    for (int i = 0; (c = command_shown(i)); i++)
        for (int k = 0; option_show(c->id, k, &s); k++) {
            bool any = false;
            if (option_shown_before(i, s.name)) continue;
            option_words(&s, note_any, &any);
            if (!any) continue;
            printf("    %s) _spbench_reply=(", s.name);
            option_words(&s, print_quoted, NULL);
            printf(" ) ;;\n");
        }
    printf("    esac\n}\n");
}

static void print_algorithms(void)
{
    printf(
        "\n_spbench_algorithms() { # OPERATION: its algorithms; of no operation nothing changes\n"
        "    case $1 in\n");
    for (int x = 0; x < op_count; x++) {
        printf("    %s) _spbench_reply=(", ops[x]->name);
        algorithm_words(ops[x], print_quoted, NULL);
        printf(" ) ;;\n");
    }
    printf("    esac\n}\n");
}

static void print_algo_options(void)
{
    const struct algo_option *p;
    printf("\n_spbench_options_of() { # ALGORITHM: adds its options, on all devices, to $kept\n"
           "    case $1 in\n");
    for (int i = 0; i < algo_count; i++) {
        if (!algos[i].algo || !algo_option_at(algos[i].algo, 0)) continue;
        printf("    %s) kept+='", algos[i].name);
        for (int k = 0; (p = algo_option_at(algos[i].algo, k)); k++) printf("%s= ", p->name);
        printf("' ;;&\n");
    }
    printf("    esac\n}\n");
}

static void print_specs(const char *before)
{
    for (const struct gen_kind *g = gen_help; g->name; g++) printf(" '%s%s:'", before, g->name);
}

// Prints the completion of an operand of the help: the word itself, commands, or matrices.
static void print_operand(const char *word)
{
    if (!strcmp(word, "COMMAND")) printf(" $_spbench_commands");
    if (!strcmp(word, "SPEC")) print_specs("");
    if (!strcmp(word, "MATRIX")) print_specs("gen:");
    if (islower((unsigned char)word[0])) print_quoted(NULL, word);
}

static void print_operands(void)
{
    const struct command_info *c;
    printf("\n_spbench_operands() { # COMMAND\n    _spbench_reply=()\n    case $1 in\n");
    for (int i = 0; (c = command_shown(i)); i++) {
        char word[64];
        bool value = false; // the word is the value of an option
        printf("    %s) _spbench_reply=(", c->name);
        for (const char *p = c->operands; *p;) {
            size_t length = strcspn(p, " []|.");
            snprintf(word, sizeof word, "%.*s", (int)length, p);
            bool option = word[0] == '-';
            if (length && !value && !option) print_operand(word);
            if (length) value = option && p[length] == ' ';
            p += length;
            p += strspn(p, " []|.");
        }
        printf(" ) ;;\n");
    }
    printf("    esac\n}\n\n");
}

int cli_completion(const struct request *q)
{
    if (strcmp(q->o->operands[0], "bash"))
        return fail(ERR_USAGE, "completion %s: no such shell; the shell is bash",
                    q->o->operands[0]);
    printf("# Completes command lines of spbench %s in bash; made by 'spbench completion bash'.\n"
           "# shellcheck shell=bash disable=SC2086,SC2206\n",
           record_version());
    print_commands();
    print_options();
    print_taking();
    print_words();
    print_algorithms();
    print_algo_options();
    print_operands();
    fputs(body, stdout);
    return OK;
}
