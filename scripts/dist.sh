#!/usr/bin/env bash
# Builds the release artifacts of one target into dist/: scripts/dist.sh [TARGET], the host by default.
#
#   pidq-VERSION-TARGET.tar.gz         the command with both services, the extractor of documents, man pages,
#                                    completions, licenses
#   libpidq-VERSION-TARGET.tar.gz      header, shared and static C library, pkg-config file
#   libpidq-VERSION-TARGET-debug.tar.gz  debug information of the shared library
#   pidq-VERSION-….whl                 Python package
#   SHA256SUMS                         checksums of everything in dist/
#
# FEATURES="" builds the command without the services. On Linux, cargo-zigbuild (PyPI: cargo-zigbuild, ziglang) is used if it is
# installed: it links against glibc 2.28 or statically against musl.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
features=${FEATURES-full}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
build=${CARGO_TARGET_DIR:-target}/$target/release
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p dist

# A suffix of the target names the glibc version for cargo-zigbuild.
cargo_build() {
    case $target in
    *-linux-*)
        if cargo zigbuild --version >/dev/null 2>&1; then
            cargo zigbuild --locked --release --target "${target/%-gnu/-gnu.2.28}" "$@"
            return
        fi
        ;;
    esac
    cargo build --locked --release --target "$target" "$@"
}

pack() { # pack NAME: writes dist/NAME.tar.gz from $stage/NAME, with the same bytes for the same content
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" \
        -C "$stage" -c "$1" | gzip -n -9 >"dist/$1.tar.gz"
    echo "dist/$1.tar.gz"
}

licenses() { # licenses DIRECTORY
    cp LICENSE-APACHE LICENSE-MIT NOTICE "$1"
}

command_archive() {
    local name=pidq-$version-$target
    cargo_build -p pidq --features "$features"
    local programs=(pidq)
    case $features in
    *full* | *pipeline*)
        cargo_build -p pidq-extract
        programs+=(pidq-extract)
        ;;
    esac
    mkdir -p "$stage/$name/completions"
    licenses "$stage/$name"
    cp README.md CHANGELOG.md "$stage/$name"
    local program binary suffix=
    [ ! -e "$build/pidq.exe" ] || suffix=.exe
    for program in "${programs[@]}"; do
        cp "$build/$program$suffix" "$stage/$name"
        strip_binary "$stage/$name/$program$suffix"
    done
    binary=$build/pidq$suffix
    if "$binary" --version >/dev/null 2>&1; then # the target runs on this machine
        "$binary" man >"$stage/$name/pidq.1"
        for shell in bash zsh fish powershell; do
            "$binary" completions "$shell" >"$stage/$name/completions/pidq.$shell"
        done
    fi
    pack "$name"
}

strip_binary() {
    case $target in
    *-linux-*) "${STRIP:-strip}" --strip-all "$1" ;;
    *-apple-*) strip -x "$1" ;;
    esac
}

library_archive() {
    local name=libpidq-$version-$target
    cargo_build -p pidq-ffi
    mkdir -p "$stage/$name"
    pidq-ffi/install.sh "$stage/$name" "$build" >/dev/null
    licenses "$stage/$name"
    # pkg-config finds the files relative to the .pc file, wherever the archive is unpacked.
    sed -i.old 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$stage/$name/lib/pkgconfig/pidq.pc"
    rm "$stage/$name/lib/pkgconfig/pidq.pc.old"
    pack "$name"
    if [ -d "$stage/$name/lib/debug" ]; then
        mkdir "$stage/$name-debug"
        mv "$stage/$name/lib/debug" "$stage/$name-debug/"
        pack "$name-debug"
    fi
}

wheel() {
    local options=(build --release --locked --target "$target" --out "$PWD/dist")
    case $target in
    *-linux-gnu) maturin --version >/dev/null && options+=(--zig --compatibility manylinux_2_28) ;;
    *-linux-musl) options+=(--zig --compatibility musllinux_1_2) ;;
    esac
    (cd pidq-ffi/python && maturin "${options[@]}")
}

command_archive
case $target in
*-musl | *-windows-*) ;; # the C library is for the platform's own C library; Windows has no install script
*) library_archive ;;
esac
if maturin --version >/dev/null 2>&1; then
    wheel
else
    echo "missing: maturin (PyPI); no wheel is built" >&2
fi
if cargo cyclonedx --version >/dev/null 2>&1; then
    cargo cyclonedx --format json --all-features --override-filename "pidq-$version.cdx" --target "$target" >/dev/null
    mv "pidq-$version.cdx.json" dist/
    git ls-files --others --exclude-standard '*.cdx.json' | xargs -r rm
fi
(cd dist && sha256sum -- *.tar.gz *.whl *.json 2>/dev/null >SHA256SUMS) || true
echo "dist/SHA256SUMS"
