#!/bin/sh
# Runs a command as a user in the root folder of an image, of which only /data and /tmp can be written:
#   unshare --mount enter.sh ROOT UID WORKING_FOLDER [FOLDER:MOUNTED_AT]... -- [NAME=VALUE]... COMMAND...
set -eu
root=$1 uid=$2 working=$3
shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
while [ "$1" != -- ]; do
  mount --bind "${1%%:*}" "$root${1#*:}"
  [ "${1#*:}" = /data ] || mount -o remount,bind,ro "$root${1#*:}"
  shift
done
shift
exec chroot --userspec="$uid:$uid" --groups= "$root" /usr/bin/env -i --chdir="$working" "$@"
