#!/bin/sh
# Packs this environment and two models into a bundle, installs it in an empty environment inside a namespace without
# network, and judges demo cases there. Prints sizes and times; any step that fails ends the script.
#
#   scripts/prove_bundle.sh WORK [CASES] [WHEELS-OPTION...]      as root, for example:
#   scripts/prove_bundle.sh build/bundle 4 --environment
set -eu
[ "$#" -ge 1 ] || { echo "usage: $0 WORK [CASES] [WHEELS-OPTION...]" >&2; exit 2; }
work=$1 cases=${2:-4}
[ "$#" -lt 2 ] || shift
shift
[ "$#" -gt 0 ] || set -- --environment
program=${OFFLINE_EVAL:-.venv/bin/offline-eval}
models=smollm2-135m-instruct,all-minilm-l6-v2
mkdir -p "$work"
work=$(cd "$work" && pwd)
rm -rf "$work/bundle.tar" "$work/bundle.tar.sig" "$work/demo" "$work/far"

step() { echo "== $* ($(date +%T))"; }

step "near: a key, the demo's files, the bundle"
[ -f "$work/key" ] || head -c 32 /dev/urandom > "$work/key"
"$program" demo "$work/demo" > /dev/null
"$program" bundle create "$@" --models "$models" --test-sets "$work/demo" --out "$work/bundle.tar" --key "$work/key"
ls -l "$work/bundle.tar" | awk '{printf "bundle: %.2f GiB\n", $5 / 2^30}'

step "far: no network from here on"
mkdir "$work/far"
cp "$work/key" "$work/far/key"
ln "$work/bundle.tar" "$work/bundle.tar.sig" "$work/far/"
python=$("$(dirname "$program")/python" -c "import sys; print(sys._base_executable)")
export python cases
exec env -i PATH="$PATH" HOME="$work/far" LANG=C.UTF-8 python="$python" cases="$cases" work="$work" \
    OFFLINE_EVAL_HOME="$work/far/home" PIP_CONFIG_FILE=/dev/null unshare -n sh -eu -c '
ip link set lo up
cd "$work/far"
step() { echo "== $* ($(date +%T))"; }
step "far: environment and wheels"
tar xf bundle.tar wheels
"$python" -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --require-hashes \
    --find-links wheels -r wheels/requirements.txt
step "far: verify, install, doctor"
venv/bin/offline-eval bundle verify bundle.tar --key key
venv/bin/offline-eval bundle install bundle.tar --into carried --key key
venv/bin/offline-eval doctor --offline > doctor.txt && tail -1 doctor.txt
step "far: judge $cases cases"
head -n "$cases" carried/test-sets/demo/cases.jsonl > cases.jsonl
for system in careful hasty; do
    head -n "$cases" "carried/test-sets/demo/answers-$system.jsonl" > "answers-$system.jsonl"
done
venv/bin/offline-eval run cases.jsonl --responses answers-careful.jsonl --responses answers-hasty.jsonl \
    --metrics panel,claims,context --dtype bfloat16 --reasons none
step "done"
'
