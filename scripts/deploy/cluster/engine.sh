#!/bin/sh
# Starts one engine process: puts the passwords into the file of users, which is not a place to keep them, then becomes the server.
set -eu
config=${CONFIG_FOLDER:-/etc/verdictd}
secrets=${SECRETS_FOLDER:-/run/secrets}
data=${DATA_FOLDER:-/data}
admin=$(cat "$secrets/admin-password")
umask 077
sed -e "s/ADMIN_PASSWORD/$admin/" -e "s/ENGINE_PASSWORD/$(cat "$secrets/engine-password")/" "$config/users.acl" >"$data/users.acl"
cp "$config/valkey.conf" "$data/valkey.conf"
printf 'aclfile %s\nmasterauth %s\ndir %s\n' "$data/users.acl" "$admin" "$data" >>"$data/valkey.conf"
exec "${SERVER:-valkey-server}" "$data/valkey.conf" "$@"
