#!/usr/bin/env bash
# Installs the programs that the tests run, where it can, and says what will be
# skipped where it cannot. Arguments name further commands that must be there.
set -euo pipefail

declare -A package=([gcc]="gcc libc6-dev" [qemu-system-x86_64]=qemu-system-x86 [ip]=iproute2 [flock]=util-linux) # the others are named as their package
missing=()
packages=()
for tool in tshark tcpdump zstd ip "$@"; do
	command -v "$tool" >/dev/null && continue
	missing+=("$tool")
	read -ra names <<<"${package[$tool]:-$tool}"
	packages+=("${names[@]}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
	echo "setup: not installed: ${missing[*]}; tests that need them are SKIPPED (they are installed when root runs this on Debian)"
	exit 0
fi
echo "setup: installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}"
