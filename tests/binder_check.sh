#!/usr/bin/env bash
# Replays what Binder does with binder/, without Docker: repo2docker prints its Dockerfile, then its Python
# steps run in a fresh environment, and the welcome notebook runs there. Needs a package registry; takes minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$PWD/build/binder
python=${PYTHON:-python3}
rm -rf "$work"
mkdir -p "$work"

echo "1. repo2docker reads binder/"
"$python" -m venv "$work/tool"
"$work/tool/bin/python" -m pip install --quiet --disable-pip-version-check jupyter-repo2docker
"$work/tool/bin/jupyter-repo2docker" --no-build --debug . >"$work/Dockerfile" 2>"$work/repo2docker.log"
for step in 'binder/requirements.txt' 'binder/postBuild' 'binder/start'; do
  grep -q "$step" "$work/Dockerfile" || { echo "The Dockerfile lacks $step." >&2; exit 1; }
done

echo "2. its Python steps, in a fresh environment"
"$python" -m venv "$work/env"
export PATH="$work/env/bin:$PATH"
python -m pip install --quiet --disable-pip-version-check --no-cache-dir -r binder/requirements.txt
binder/postBuild

echo "3. the welcome notebook runs there"
binder/start kafkalearn run notebooks/00_welcome.ipynb --out "$work/notebooks"
echo "Binder would start."
