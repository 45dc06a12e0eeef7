#!/bin/sh
# Runs tests of the built checkout on Debian 13, whose glibc loads the newer release of uWebSockets.js (src/http/uws.ts): in a root made of
# Debian's own packages by debootstrap, with Debian's Node 20. Takes test files as arguments, or those of HTTP, operations and resilience.
# Wants root and debootstrap; the root stays for the next time in $VERDICTD_TEST_ROOT (default /var/tmp/verdictd-debian-13).
set -eu
checkout=$(cd "$(dirname "$0")/.." && pwd)
root=${VERDICTD_TEST_ROOT:-/var/tmp/verdictd-debian-13}
if [ ! -e "$root/usr/bin/node" ]; then
  debootstrap --variant=minbase --include=nodejs,openssl,ca-certificates trixie "$root"
fi
echo "127.0.0.1 localhost" > "$root/etc/hosts"
mkdir -p "$root$checkout"
# Mounts of a namespace of their own: nothing is left mounted, however it ends.
exec unshare --mount sh -euc '
  root=$1 checkout=$2
  shift 2
  mount --bind "$checkout" "$root$checkout"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  [ $# -gt 0 ] || set -- $(cd "$checkout" && ls dist/test/http/*.test.js dist/test/ops/*.test.js dist/test/resilience/*.test.js dist/test/package/native-parts.test.js)
  exec chroot "$root" sh -c "cd \"$checkout\" && exec node node_modules/.bin/tap --jobs=1 \"\$@\"" sh "$@"
' sh "$root" "$checkout" "$@"
