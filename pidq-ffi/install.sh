#!/bin/sh
# Installs libpidq for C: pidq-ffi/install.sh PREFIX [DIRECTORY OF THE BUILT LIBRARY]
#
# Use it if cargo-c is not available; with cargo-c, `cargo cinstall -p pidq-ffi --release --prefix PREFIX` does the
# same.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:?a folder to install to, such as /usr/local}
built=${2:-}

if [ -z "$built" ]; then
    (cd "$here/.." && cargo build --release -p pidq-ffi)
    built=${CARGO_TARGET_DIR:-$here/../target}/release
fi

version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
abi=$(sed -n 's/.*PIDQ_ABI_VERSION \([0-9]*\)$/\1/p' "$here/include/pidq.h")

mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
# pidq.pc is usable from any directory.
prefix=$(cd "$prefix" && pwd)
cp "$here/include/pidq.h" "$prefix/include/"
cp "$built/libpidq_ffi.a" "$prefix/lib/libpidq.a"
case $(uname) in
Darwin)
    cp "$built/libpidq_ffi.dylib" "$prefix/lib/libpidq.$abi.dylib"
    install_name_tool -id "$prefix/lib/libpidq.$abi.dylib" "$prefix/lib/libpidq.$abi.dylib"
    ln -sf "libpidq.$abi.dylib" "$prefix/lib/libpidq.dylib"
    ;;
*)
    cp "$built/libpidq_ffi.so" "$prefix/lib/libpidq.so.$abi"
    ln -sf "libpidq.so.$abi" "$prefix/lib/libpidq.so"
    ;;
esac

cat >"$prefix/lib/pkgconfig/pidq.pc" <<EOF
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: pidq
Description: A query engine for P&ID graphs
Version: $version
Libs: -L\${libdir} -lpidq
Libs.private: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
Cflags: -I\${includedir}
EOF
echo "libpidq $version (ABI $abi) is in $prefix"
