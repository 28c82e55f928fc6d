#!/bin/sh
# One back-up of the ledger, encrypted for the holder of a certificate's key; the key itself is never on this computer.
#   backup.sh FOLDER CERTIFICATE      KEEP_DAYS (90): older back-ups are removed
set -eu
folder=${1:?name the folder for back-ups} certificate=${2:?name the certificate to encrypt for}
umask 077
name="$folder/ledger-$(date -u +%Y-%m-%dT%H%M%SZ).cms"
work=
trap 'rm -rf "$work" "$name.part"' EXIT
# A shell that a signal ends runs no EXIT trap (dash, for one): what lies in $work is the ledger in plain text.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
work=$(mktemp -d)
epsilon-lab ledger backup "$work/ledger"
openssl cms -encrypt -binary -stream -outform DER -aes-256-gcm -in "$work/ledger" -out "$name.part" "$certificate"
mv "$name.part" "$name"
sync "$name"
find "$folder" -name 'ledger-*.cms' -mtime "+${KEEP_DAYS:-90}" -delete
echo "Encrypted as $name."
