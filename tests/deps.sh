#!/usr/bin/env bash
# Installs with apt the packages that this machine lacks, and prints the list and the command first.
# Without apt, a line names the packages. The CUDA toolkit is not among them.
#
# deps.sh [demo]   for the program and the figures
# deps.sh tests    for the tests as well, and a batch system if its packages start no service
# deps.sh missing  installs nothing: prints the packages that the build of the program lacks
#
# CC is the compiler, FLAVOUR the build: the flavours cuda and emu need g++ as well.
set -u

read -ra cc <<<"${CC:-cc}"
flavour=${FLAVOUR:-cpu}
if [ "${1:-}" = tests ]; then flavour=emu; fi
missing=()
have() { command -v "$1" >/dev/null; }
have_header() {
    if have "${cc[0]}"; then
        echo "#include <$1>" | "${cc[@]}" -E -x c - >/dev/null 2>&1
    else
        [ -e "/usr/include/$1" ]
    fi
}
have_module() { python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null; }

have "${cc[0]}" || missing+=(gcc)
have_header stdio.h || missing+=(libc6-dev)
have_header cjson/cJSON.h || missing+=(libcjson-dev)
have_header zlib.h || missing+=(zlib1g-dev)
case $flavour in cuda | emu) have g++ || missing+=(g++) ;; esac
if [ "${1:-}" = missing ]; then
    echo "${missing[*]}"
    exit 0
fi
have python3 || missing+=(python3)
have_module matplotlib || missing+=(python3-matplotlib)
optional=()
if [ "${1:-}" = tests ]; then
    have git || missing+=(git)
    have curl || missing+=(curl)
    have shellcheck || missing+=(shellcheck)
    have valgrind || missing+=(valgrind)
    have_module jsonschema || missing+=(python3-jsonschema)
    if [ "$(id -u)" -eq 0 ] && [ ! -d /run/systemd/system ] && ! have sbatch; then
        optional+=(slurm-wlm munge)
    fi
fi
[ $((${#missing[@]} + ${#optional[@]})) -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo -n)
fi
apt=("${as_root[@]}" apt-get)
install=("${apt[@]}" install -y --no-install-recommends)
if have apt-get && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    printf '%s\n' "missing packages: ${missing[*]} ${optional[*]}" \
        "  ${apt[*]} update" "  ${install[*]} ${missing[*]} ${optional[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    if "${apt[@]}" update >"$log" 2>&1 &&
        { [ ${#missing[@]} -eq 0 ] || "${install[@]}" "${missing[@]}" >>"$log" 2>&1; }; then
        [ ${#optional[@]} -eq 0 ] || "${install[@]}" "${optional[@]}" >>"$log" 2>&1 ||
            echo "not installed, some tests are left out: ${optional[*]}" >&2
        rm -f "$log"
        exit 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
fi
[ ${#missing[@]} -eq 0 ] && exit 0
echo "please install these packages (names of Debian): ${missing[*]}" >&2
exit 1
