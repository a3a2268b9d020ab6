#!/bin/sh
# Makes .venv with the locked packages and the `bundle` command; repeats it when a lock changes.
# Arguments: extra groups of requirements/, such as lint or browser.
# Needs Python 3.11 or newer with its venv module; says what to install where something is missing.
set -eu
cd "$(dirname "$0")/.."

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

version() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null || true
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        # An explicit choice is never replaced by another Python.
        is_new_enough "$PYTHON" || fail "PYTHON=$PYTHON does not work here: Python 3.11 or newer is needed." \
            "  It says: $("$PYTHON" --version 2>&1 || true)" \
            "Name one that works, such as PYTHON=/path/to/python3.12, or leave PYTHON out."
        echo "$PYTHON"
        return
    fi
    for candidate in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed; found: $(python3 --version 2>&1 || echo none)." \
        "  Debian 12+, Ubuntu 24.04+: sudo apt-get install python3 python3-venv" \
        "  Ubuntu 22.04:              sudo apt-get install python3.11 python3.11-venv" \
        "  macOS:                     brew install python@3.12" \
        "Or name one: make PYTHON=/path/to/python3.12"
}

groups="dev $*"
# Fingerprint of a group's set-up: changes with everything that it depends on.
wanted() {
    cat "requirements/$1.lock" pyproject.toml bundle_tools/set_up.sh | cksum
}
if [ -n "${PYTHON:-}" ]; then
    python=$(find_python)
    # Rebuild the environment if its Python has another version or is gone.
    [ ! -d .venv ] || [ "$(version .venv/bin/python)" = "$(version "$python")" ] || rm -f .venv/bin/python
fi
missing=
if is_new_enough .venv/bin/python; then
    for group in $groups; do
        [ "$(cat ".venv/.set-up-$group" 2>/dev/null)" = "$(wanted "$group")" ] || missing="$missing $group"
    done
else
    missing=$groups
fi
[ -n "$missing" ] || exit 0

if ! is_new_enough .venv/bin/python; then
    python=$(find_python)
    echo "Setting up .venv with $("$python" --version 2>&1)."
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || fail \
        "$python has no venv module." \
        "  Debian, Ubuntu: sudo apt-get install python3-venv  (or python3.11-venv for python3.11)"
    "$python" -m venv --clear .venv || fail "$python -m venv failed, as shown above."
fi

echo "Installing the locked packages into .venv. This takes up to a minute and needs the network the first time."
# The locks are complete, so nothing is resolved: further dependencies are left out on purpose.
locked="--quiet --no-deps --require-hashes"
pip="-m pip --disable-pip-version-check install"
names= locks=
for group in $missing; do
    names="$names requirements/$group.lock"
    locks="$locks -r requirements/$group.lock"
done
uv=.venv/uv
# shellcheck disable=SC2086 # they are lists of words
{
    # uv takes seconds. Where it cannot reach the packages, as behind a mirror that only pip knows, pip takes its time.
    .venv/bin/python $pip $locked --target "$uv" -r requirements/set_up.lock 2>/dev/null &&
        "$uv/bin/uv" pip install --python .venv/bin/python $locked $locks 2>/dev/null ||
        .venv/bin/python $pip --no-compile $locked $locks
} || fail \
    "" "The packages of$names could not be installed, as shown above." \
    "Check the network and the free space (1 GB), then run the same command again."
rm -rf "$uv"
# The tests of the packages are half of their code.
find .venv/lib -path '*/site-packages/*/tests' -type d -prune -exec rm -r {} +
.venv/bin/python -W ignore -m compileall -q -j 0 .venv/lib || true
# shellcheck disable=SC2086
.venv/bin/python $pip --quiet --no-deps --no-build-isolation --no-index -e . || fail \
    "" "The bundle command could not be installed, as shown above."
for group in $missing; do
    wanted "$group" >".venv/.set-up-$group"
done
echo "Set up: .venv/bin/bundle"
