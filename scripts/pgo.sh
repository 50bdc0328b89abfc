#!/usr/bin/env bash
# Writes cmd/rocecap/default.pgo, the profile that the Go compiler optimises
# rocecap with, anew from the benchmarks of whole commands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go test ./internal/cli/rocecap -run='^$' -bench=Main -benchtime=2s -cpuprofile="$work/cpu.pprof" -o "$work/rocecap.test"
mv "$work/cpu.pprof" cmd/rocecap/default.pgo
