#!/bin/sh
# Assembles the file system of the image: rootfs.sh DIRECTORY PROGRAM...
#
# The image has no distribution in it: only the programs, the shared libraries that they name, and what the C library needs
# to look up hosts. There is no shell and no package manager. Programs get the names of their files, in /usr/local/bin.
set -eu

root=$1
shift
here=$(cd "$(dirname "$0")/../.." && pwd)
# Owner of the data: an account of its own, without a password or a shell.
uid=65532

mkdir -p "$root/etc" "$root/usr/local/bin" "$root/usr/share/doc/pidq" "$root/data" "$root/models" "$root/tmp"

copy_libraries() { # copy_libraries PROGRAM: the loader and the libraries, at their own paths
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
}

for program in "$@"; do
    install -m 755 "$program" "$root/usr/local/bin/"
    copy_libraries "$program"
done

echo "pidq:x:$uid:$uid:pidq:/data:/nonexistent" >"$root/etc/passwd"
echo "pidq:x:$uid:" >"$root/etc/group"
echo "hosts: files dns" >"$root/etc/nsswitch.conf"
# Certificates of the system, for Redis, NATS and PostgreSQL with TLS.
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    mkdir -p "$root/etc/ssl/certs"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi
cp "$here/LICENSE-APACHE" "$here/LICENSE-MIT" "$here/NOTICE" "$root/usr/share/doc/pidq/"

# Everything belongs to root and is read-only, except the data.
chmod 1777 "$root/tmp"
chmod 700 "$root/data"
if [ "$(id -u)" = 0 ]; then
    chown -R 0:0 "$root"
    chown "$uid:$uid" "$root/data"
fi
