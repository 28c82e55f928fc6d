#!/bin/sh
# The browser tests drive Debian's Chromium, the ledger tests start a private PostgreSQL server, those of replicas HAProxy.
# Installs what is missing where apt is there and may be used; otherwise says what to install and fails.
set -eu

missing=""
[ -x /usr/bin/chromium ] || missing="$missing chromium"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -x /usr/sbin/haproxy ] || command -v haproxy >/dev/null 2>&1 || missing="$missing haproxy"
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
    run=""
    [ "$(id -u)" -eq 0 ] || run="sudo"
    $run apt-get update -qq
    # shellcheck disable=SC2086
    $run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "The tests need these programs, which are not installed:$missing. Install them and run make test again." >&2
    exit 1
fi
