#!/usr/bin/env bash
# Builds the release artifacts of one target into dist/: scripts/dist.sh [TARGET], the host by default.
#
#   pidq-VERSION-TARGET.tar.gz           the command with both services, the extractor, man page, completions, licenses
#   pidq-VERSION-TARGET.cdx.json         its software bill of materials (CycloneDX)
#   libpidq-VERSION-TARGET.tar.gz        header, shared and static C library, pkg-config files
#   libpidq-VERSION-TARGET-debug.tar.gz  debug information of the shared library
#   libpidq-VERSION-TARGET.cdx.json      bill of materials of the C library
#   pidq-VERSION-….whl                   Python package
#   SHA256SUMS                           checksums of everything in dist/
#
# FEATURES="" builds the command without the services. On Linux, cargo-zigbuild (PyPI: cargo-zigbuild, ziglang) is used if it is
# installed: it links against glibc 2.28 or statically against musl. Packing adds nothing that depends on the time or the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
features=${FEATURES-full}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
build=${CARGO_TARGET_DIR:-target}/$target/release
glibc=2.28
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p dist

# Archives and wheels have the time of the commit, and panic messages do not name directories of this machine.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
cargo_home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=/pidq --remap-path-prefix=$cargo_home=/cargo"

has() { # has COMMAND
    command -v "$1" >/dev/null
}

zig() { # succeeds if the target is linked with zig
    [[ $target == *-linux-* ]] && has cargo-zigbuild
}

# A suffix of the target names the glibc version for cargo-zigbuild.
cargo_build() {
    if zig; then
        cargo zigbuild --locked --release --target "${target/%-gnu/-gnu.$glibc}" "$@"
    else
        cargo build --locked --release --target "$target" "$@"
    fi
}

# The command embeds the dashboard.
case ,$features, in
*,full,* | *,dashboard,*) scripts/dashboard.sh build ;;
esac

gnu_tar=tar
! has gtar || gnu_tar=gtar # macOS

pack() { # pack NAME: writes dist/NAME.tar.gz from $stage/NAME, with the same bytes for the same content
    "$gnu_tar" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w --mtime="@$SOURCE_DATE_EPOCH" \
        -C "$stage" -c "$1" | gzip -n -9 >"dist/$1.tar.gz"
    echo "dist/$1.tar.gz"
}

licenses() { # licenses DIRECTORY
    cp LICENSE-APACHE LICENSE-MIT NOTICE "$1"
}

# check_linked FILE: a program for musl is static, and one for GNU runs with the glibc of manylinux_2_28.
check_linked() {
    local newest
    zig && has readelf || return 0
    case $target in
    *-musl)
        ! readelf -d "$1" | grep NEEDED || { echo "$1 is not static" >&2; exit 1; }
        ;;
    *-gnu)
        newest=$(readelf --version-info "$1" | grep -oE 'GLIBC_[0-9.]+' | cut -d_ -f2 | sort -uV | tail -n 1)
        [ "$(printf '%s\n' "$newest" "$glibc" | sort -V | tail -n 1)" = "$glibc" ] ||
            { echo "$1 needs glibc $newest, newer than $glibc" >&2; exit 1; }
        ;;
    esac
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
        check_linked "$build/$program$suffix"
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
    local name=libpidq-$version-$target file
    cargo_build -p pidq-ffi
    mkdir -p "$stage/$name"
    pidq-ffi/install.sh "$stage/$name" "$build" >/dev/null
    licenses "$stage/$name"
    # pkg-config finds the files relative to the .pc file, wherever the archive is unpacked.
    for file in "$stage/$name"/lib/pkgconfig/*.pc; do
        sed -i.old 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$file"
        rm "$file.old"
    done
    if [ -d "$stage/$name/lib/debug" ]; then
        check_linked "$build/libpidq_ffi.so"
        mkdir -p "$stage/$name-debug/lib"
        mv "$stage/$name/lib/debug" "$stage/$name-debug/lib/"
        pack "$name-debug"
    fi
    pack "$name"
}

wheel() {
    local options=(build --release --locked --target "$target")
    case $target in
    *-linux-gnu) ! zig || options+=(--zig --compatibility "manylinux_${glibc/./_}") ;;
    *-linux-musl) options+=(--zig --compatibility musllinux_1_2) ;;
    esac
    mkdir "$stage/wheel"
    (cd pidq-ffi/python && maturin "${options[@]}" --out "$stage/wheel")
    if [[ $target == *-linux-* ]] && has auditwheel; then
        auditwheel show "$stage"/wheel/*.whl
    fi
    mv "$stage"/wheel/*.whl dist/
}

# bill_of_materials CRATE NAME [OPTION...]
bill_of_materials() {
    local folder=.
    [ "$1" = pidq ] || folder=$1
    cargo cyclonedx --format json --manifest-path "$folder/Cargo.toml" --target "$target" \
        --override-filename "$2.cdx" "${@:3}" >/dev/null
    mv "$folder/$2.cdx.json" dist/
    # One file is written for each crate of the workspace.
    find . -maxdepth 2 -name "$2.cdx.json" -not -path './dist/*' -delete
    echo "dist/$2.cdx.json"
}

checksums() {
    local sum=(sha256sum)
    has sha256sum || sum=(shasum -a 256)
    (cd dist && shopt -s nullglob && "${sum[@]}" -- *.tar.gz *.whl *.json >SHA256SUMS)
    echo "dist/SHA256SUMS"
}

command_archive
case $target in
*-musl | *-windows-*) ;; # the C library is for the platform's own C library; Windows has no install script
*) library_archive ;;
esac
if has maturin; then
    wheel
else
    echo "missing: maturin (PyPI); no wheel is built" >&2
fi
if has cargo-cyclonedx; then
    bill_of_materials pidq "pidq-$version-$target" --no-default-features ${features:+--features "$features"}
    bill_of_materials pidq-ffi "libpidq-$version-$target"
else
    echo "missing: cargo-cyclonedx (cargo install); no bill of materials is written" >&2
fi
checksums
