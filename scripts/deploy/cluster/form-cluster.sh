#!/bin/sh
# Joins engine processes to a cluster, unless they are one: each argument is a shard, "master,replica,replica" as host:port.
set -eu
cli=${CLI:-valkey-cli}
REDISCLI_AUTH=$(cat "${SECRETS_FOLDER:-/run/secrets}/admin-password")
VALKEYCLI_AUTH=$REDISCLI_AUTH
export REDISCLI_AUTH VALKEYCLI_AUTH

# ask HOST:PORT COMMAND...
ask() {
  address=$1
  shift
  "$cli" -h "${address%:*}" -p "${address##*:}" "$@"
}

masters=""
for shard in "$@"; do
  masters="$masters ${shard%%,*}"
  for node in $(echo "$shard" | tr , ' '); do
    until ask "$node" PING 2>/dev/null | grep -q PONG; do sleep 1; done
  done
done

first=$(echo "$masters" | awk '{ print $1 }')
if ask "$first" CLUSTER INFO | grep -q cluster_state:ok; then
  echo "these are a cluster already"
  exit 0
fi

# shellcheck disable=SC2086 -- a list
"$cli" --cluster create $masters --cluster-yes
for shard in "$@"; do
  master=${shard%%,*}
  id=$(ask "$master" CLUSTER MYID)
  for replica in $(echo "${shard#*,}" | tr , ' '); do
    "$cli" --cluster add-node "$replica" "$master" --cluster-slave --cluster-master-id "$id"
  done
done
until ask "$first" CLUSTER INFO | grep -q cluster_state:ok; do sleep 1; done
ask "$first" CLUSTER NODES
