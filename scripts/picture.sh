#!/usr/bin/env bash
# Draws docs/decode.svg, the README's picture, from the program's own output.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
CGO_ENABLED=0 go build -o "$bin/" ./cmd/rocecap ./scripts/picture

show() {
	echo "\$ rocecap $*"
	CLICOLOR_FORCE=1 "$bin/rocecap" "$@" || true
}
{
	show decode -c 17 pcaps/fixtures/t.pcap
	echo
	show icrc pcaps/py_flush.pcap
} | "$bin/picture" >docs/decode.svg
