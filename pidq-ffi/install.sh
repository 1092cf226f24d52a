#!/bin/sh
# Installs libpidq for C: pidq-ffi/install.sh PREFIX [DIRECTORY OF THE BUILT LIBRARY]
#
# Without the second argument, it compiles the library first, which takes minutes.
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
cp "$here/include/pidq.h" "$here/include/pidq.hpp" "$prefix/include/"
cp "$built/libpidq_ffi.a" "$prefix/lib/libpidq.a"
objcopy=${OBJCOPY:-objcopy}
case $(uname) in
Darwin)
    cp "$built/libpidq_ffi.dylib" "$prefix/lib/libpidq.$abi.dylib"
    install_name_tool -id "$prefix/lib/libpidq.$abi.dylib" "$prefix/lib/libpidq.$abi.dylib"
    ln -sf "libpidq.$abi.dylib" "$prefix/lib/libpidq.dylib"
    ;;
*)
    # Debug information goes to files of its own, where debuggers find it by the debug link.
    mkdir -p "$prefix/lib/debug"
    debug=$prefix/lib/debug/libpidq.so.$abi.debug
    rm -f "$prefix/lib/libpidq.so.$abi"
    "$objcopy" --only-keep-debug "$built/libpidq_ffi.so" "$debug"
    "$objcopy" --strip-unneeded --add-gnu-debuglink="$debug" "$built/libpidq_ffi.so" "$prefix/lib/libpidq.so.$abi"
    ln -sf "libpidq.so.$abi" "$prefix/lib/libpidq.so"
    # Link-time optimization leaves compiler bitcode in the archive, which linkers of other compilers cannot use.
    "$objcopy" --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd "$prefix/lib/libpidq.a"
    ;;
esac

# `pkg-config --static` is for `cc -static`. A program that is linked dynamically except for libpidq uses `pidq-static`.
case $(uname) in
Darwin) system_libs="-lpthread -lm" ;;
*) system_libs="-lgcc_eh -lpthread -lm -ldl -lc" ;;
esac

pc_file() { # pc_file NAME DESCRIPTION LIBS PRIVATE [CFLAGS]
    cat >"$prefix/lib/pkgconfig/$1.pc" <<EOF
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: $1
Description: $2
Version: $version
Libs: $3
Libs.private: $4
Cflags: -I\${includedir}${5:+ $5}
EOF
}

pc_file pidq "A query engine for P&ID graphs" "-L\${libdir} -lpidq" "$system_libs"
pc_file pidq-static "A query engine for P&ID graphs (static library)" "\${libdir}/libpidq.a $system_libs" "" -DPIDQ_STATIC
echo "libpidq $version (ABI $abi) is in $prefix"
