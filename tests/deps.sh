#!/usr/bin/env bash
# Installs what the build, the tests and the plots need and this machine lacks, with apt; where that
# cannot be done, says in one line which packages to install. The CUDA toolkit is not among them.
# With the word `tests`, and where no service would be started by it, also what single tests can do
# without: a batch system.
set -u

missing=()
have_header() { echo "#include <$1>" | ${CC:-gcc} -E -x c - >/dev/null 2>&1; }
have_module() { python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null; }

command -v "${CC:-gcc}" >/dev/null || missing+=(gcc)
command -v g++ >/dev/null || missing+=(g++)
have_header stdio.h || missing+=(libc6-dev)
have_header cjson/cJSON.h || missing+=(libcjson-dev)
have_header zlib.h || missing+=(zlib1g-dev)
command -v python3 >/dev/null || missing+=(python3)
command -v git >/dev/null || missing+=(git)
command -v curl >/dev/null || missing+=(curl)
command -v shellcheck >/dev/null || missing+=(shellcheck)
command -v valgrind >/dev/null || missing+=(valgrind)
have_module matplotlib || missing+=(python3-matplotlib)
have_module jsonschema || missing+=(python3-jsonschema)
optional=()
if [ "${1:-}" = tests ] && [ "$(id -u)" -eq 0 ] && [ ! -d /run/systemd/system ]; then
    command -v sbatch >/dev/null || optional+=(slurm-wlm munge)
fi
[ $((${#missing[@]} + ${#optional[@]})) -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo -n)
fi
install() { "${as_root[@]}" apt-get install -y --no-install-recommends "$@"; }
if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    echo "installing ${missing[*]} ${optional[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    if "${as_root[@]}" apt-get update >"$log" 2>&1 &&
        { [ ${#missing[@]} -eq 0 ] || install "${missing[@]}" >>"$log" 2>&1; }; then
        [ ${#optional[@]} -eq 0 ] || install "${optional[@]}" >>"$log" 2>&1 ||
            echo "not to be had, some tests are left out: ${optional[*]}" >&2
        rm -f "$log"
        exit 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
fi
[ ${#missing[@]} -eq 0 ] && exit 0
echo "please install these packages (their Debian names): ${missing[*]}" >&2
exit 1
