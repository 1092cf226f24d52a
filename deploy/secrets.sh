#!/bin/sh
# Writes a file of random secrets for Compose and systemd: secrets.sh [FILE], by default pidq.secrets.
# An existing file is never changed.
set -eu

file=${1:-pidq.secrets}
umask 077

random() { # random BYTES: hexadecimal digits
    od -An -tx1 -N"$1" /dev/urandom | tr -d ' \n'
}

uuid() { # version 4
    random 16 | sed 's/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\)$/\1-\2-4\3-a\4-\5/'
}

if [ -e "$file" ]; then
    echo "$file exists; remove it to write new secrets (stored keys of language models then become unreadable)" >&2
    exit 1
fi
cat >"$file.new" <<END
# Secrets, made by secrets.sh. Keep a copy in a safe place: a backup of the database needs PIDQ_APP_SECRET.
PIDQ_APP_SECRET=$(random 32)
PIDQ_APP_MASTER_KEY=$(uuid)
PIDQ_APP_MASTER_SECRET=$(random 32)
PIDQ_ADMIN_PASSWORD=$(random 16)
PIDQ_CLIENT_SECRET=pidq_cs_$(random 32)
POSTGRES_PASSWORD=$(random 24)
PIDQ_APP_LICENSE=
END
mv "$file.new" "$file"
echo "wrote $file"
