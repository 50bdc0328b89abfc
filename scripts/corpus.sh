#!/usr/bin/env bash
# Grows the committed fuzz corpora: fuzzes each target for FUZZTIME seconds and
# keeps the smallest of the inputs that reached new code, KEEP of each target.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${FUZZTIME:-20} keep=${KEEP:-40}
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT

grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do
	folder=$(dirname "$file")
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
		echo "$folder $target"
		go test "$folder" -run='^$' -fuzz="^$target\$" -fuzztime="${time}s" -test.fuzzcachedir="$cache" >/dev/null </dev/null
		mkdir -p "$folder/testdata/fuzz/$target"
		ls -Sr "$cache/$target" 2>/dev/null | head -n "$keep" | while read -r input; do
			cp "$cache/$target/$input" "$folder/testdata/fuzz/$target/"
		done
	done
done
