#!/usr/bin/env bash
# Migrates a copy of examples/pynative_bert and shows what came out: demo.sh GRAPHWARD PYTHON
#
# GRAPHWARD is the command, PYTHON an interpreter with MindSpore; they may live in different environments.
# Exit status: 0 when something was proven and the migrated copy trains, as one graph and still in PyNative; else 1.
set -euo pipefail

graphward=$(realpath -s "$1")
python=$(realpath -s "$2")
example=$(cd "$(dirname "$0")" && pwd)/pynative_bert
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 GLOG_v=3

say() { printf '\n== %s\n' "$*"; }
checksum() { (cd "$example" && find . -type f -not -path '*/__pycache__/*' -print0 | sort -z | xargs -0 sha256sum); }

before=$(checksum)
cp -R "$example" "$work/"
cd "$work/pynative_bert"

say 'The example in PyNative'
"$python" train.py --epochs 1 2>/dev/null
say 'The same training step as one graph, before: train.py --jit'
if "$python" train.py --jit --epochs 1 >"$work/before.log" 2>&1; then
    tail -n 1 "$work/before.log"
else
    grep -E '^[A-Za-z]+Error: ' "$work/before.log" | head -n 1 || true
fi

say 'graphward migrate --write'
status=0
"$graphward" migrate --write --python "$python" . | tee "$work/report" || status=${PIPESTATUS[0]}

say 'The training step as one graph, after: train.py --jit'
trains=yes
"$python" train.py --jit --epochs 1 2>"$work/after.log" || trains=no
say 'The migrated copy in PyNative'
"$python" train.py --epochs 1 2>>"$work/after.log" || trains=no
[[ $trains == yes ]] || tail -n 15 "$work/after.log"

say 'Result'
[[ $(checksum) == "$before" ]] || { echo 'demo: the example itself was changed' >&2; exit 1; }
echo "The example is untouched; graphward migrate ended with status $status."
((status < 2)) || exit 1
grep -qw verified "$work/report" || { echo 'demo: no target was verified' >&2; exit 1; }
[[ $trains == yes ]] || { echo 'demo: the migrated copy does not train' >&2; exit 1; }
