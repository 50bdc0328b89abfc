# What the benchmarks have in common. They source it where the project begins, with
# the name of what they measure in bench.
# shellcheck shell=bash

scale=${BENCH_SCALE:-1}
runs=${BENCH_RUNS:-3}
[ "$runs" -ge 3 ] || runs=3
export CGO_ENABLED=0

spaces=() # network namespaces
cleanup() {
	local space
	for space in "${spaces[@]}"; do
		ip netns pids "$space" 2>/dev/null | xargs -r kill 2>/dev/null || true
		ip netns del "$space" 2>/dev/null || true
	done
	rm -rf "$dir"
}
dir=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/rocecap-bench.XXXXXX")
trap cleanup EXIT

skip() { echo "bench of $bench SKIPPED: $*"; exit 0; }

# fail FILE WORDS... ends the benchmark with what a program has said.
fail() {
	echo "bench: ${*:2}" >&2
	cat "$1" >&2
	exit 1
}

# count N LEAST prints N scaled, but at least LEAST (default 1).
count() { awk -v n="$1" -v s="$scale" -v least="${2:-1}" 'BEGIN { printf "%d", n * s < least ? least : n * s }'; }

# have NAME prints where a program is that ours is compared with, or says that it
# is not here.
have() { command -v "$1" || { echo "bench: $1 is not installed: no comparison with it" >&2; false; }; }

# binary NAME prints where our program is: what the variable of its name says, or
# built now.
binary() {
	local given=${1^^}
	[ -n "${!given:-}" ] || go build -trimpath -o "bin/$1" "./cmd/$1" || return
	echo "${!given:-bin/$1}"
}

# cable OPTIONS... makes a veth pair, tx0 in the namespace $left and rx0 in $right.
cable() {
	[ "$(id -u)" = 0 ] || skip "it makes network namespaces, which needs root"
	command -v ip >/dev/null || skip "the program ip is not installed"
	left=rocebench-$$-l right=rocebench-$$-r
	spaces=("$left" "$right")
	ip netns add "$left" && ip netns add "$right" || skip "there are no network namespaces here"
	ip link add tx0 netns "$left" "$@" type veth peer name rx0 netns "$right" "$@"
	ip -n "$left" link set tx0 up
	ip -n "$right" link set rx0 up
}
