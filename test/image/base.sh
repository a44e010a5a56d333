#!/usr/bin/env bash
# Makes the image node:24-slim without a registry of images: a small Debian from the mirror that this machine uses, with
# the Node of this repository and npm. $1 is an empty folder to work in; the rest is buildah with its global flags.
set -euo pipefail
work=$1
shift
buildah=("$@")
root=$work/base
repository=$(cd "$(dirname "$0")/../.." && pwd)

. /etc/os-release
# Without what its lists say: a new machine has none.
mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' \
  'Created-By: Packages' "Release: $VERSION_CODENAME" 'Component: main' | sed -n 1p)
[ -n "$mirror" ] || { echo "apt is configured for no mirror of $VERSION_CODENAME" >&2; exit 1; }
# debootstrap does not read apt's configuration.
eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
export http_proxy https_proxy
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" >"$work/debootstrap.log" 2>&1 ||
  { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }

install -m 755 "$(readlink -f "$repository/node_modules/node/bin/node")" "$root/usr/local/bin/node"
npm install --silent --global --prefix "$root/usr/local" npm@11
chroot "$root" groupadd --gid 1000 node
chroot "$root" useradd --uid 1000 --gid node --shell /bin/bash --create-home node
rm -rf "$root"/var/cache/apt "$root"/var/lib/apt/lists "$root"/usr/share/{doc,locale,man}

container=$("${buildah[@]}" from scratch)
"${buildah[@]}" add --quiet "$container" "$root" / >/dev/null
"${buildah[@]}" config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
# npm finds its registry there as it does here, unless a project names another one.
mkdir -p "$root/usr/local/etc"
printf 'registry=%s\n' "$(npm config get registry)" >"$root/usr/local/etc/npmrc"
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  "${buildah[@]}" copy --quiet "$container" "$NODE_EXTRA_CA_CERTS" /etc/ssl/extra-ca.pem >/dev/null
  "${buildah[@]}" config --env NODE_EXTRA_CA_CERTS=/etc/ssl/extra-ca.pem "$container"
fi
"${buildah[@]}" commit --quiet --rm "$container" node:24-slim >/dev/null
rm -rf "$root"
