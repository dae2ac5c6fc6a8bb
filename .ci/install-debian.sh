#!/usr/bin/env bash
# Programs that some tests talk to; a test whose program is absent is skipped with a message.
set -euo pipefail
packages=(nginx libnginx-mod-http-brotli-static libnginx-mod-http-brotli-filter varnish varnish-modules chromium-headless-shell systemd wget sqlite3 caddy)
missing=()
for package in "${packages[@]}"; do
  dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  sudo=$([ "$(id -u)" = 0 ] && echo "" || echo sudo)
  $sudo apt-get update -qq
  $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
