#!/usr/bin/env bash
# Compares how many packets a second programs capture without losing one, and
# the processor time that a packet costs them. A generator sends small RoCEv2
# packets over a veth pair at rising rates; a rate counts when every packet was
# captured and the kernel dropped none. tcpdump runs with its own buffer and with
# one as large as ours. The programs take turns.
#
#   BENCH_SCALE=0.1    sends fewer packets
#   BENCH_RATES="..."  the rates to try, packets a second; what the generator
#                      reached is printed
#   ROCECAP=PATH ROCEINJECT=PATH   measure those binaries instead of building some
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

skip() { echo "bench of capturing SKIPPED: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "it makes network namespaces, which needs root"
command -v ip >/dev/null || skip "the program ip is not installed"

packets=$(awk -v s="${BENCH_SCALE:-1}" 'BEGIN { n = 2000000 * s; printf "%d", n < 1000 ? 1000 : n }')
rates=${BENCH_RATES:-100000 200000 300000 400000 500000 600000 800000 1000000}

export CGO_ENABLED=0
if [ -z "${ROCEINJECT:-}" ]; then
	go build -trimpath -o bin/roceinject ./cmd/roceinject
	ROCEINJECT=bin/roceinject
fi
if [ -z "${ROCECAP:-}" ]; then
	go build -trimpath -o bin/rocecap ./cmd/rocecap
	ROCECAP=bin/rocecap
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/rocecap-bench.XXXXXX")
left=rocebench-$$-l right=rocebench-$$-r
cleanup() {
	ip netns del "$left" 2>/dev/null || true
	ip netns del "$right" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
ip netns add "$left" && ip netns add "$right" || skip "there are no network namespaces here"
ip link add tx0 netns "$left" type veth peer name rx0 netns "$right"
ip -n "$left" link set tx0 up
ip -n "$right" link set rx0 up

# For each program: the highest rate without loss and the processor time that a
# packet took there, in nanoseconds.
declare -A best cost over

# processor PID prints the time that the process's threads have run, in nanoseconds.
processor() { cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }'; }

# once NAME RATE COMMAND... captures while the generator sends, at RATE.
once() {
	local name=$1 rate=$2 pid before after captured dropped status
	shift 2
	ip netns exec "$right" "$@" >"$dir/out" 2>"$dir/err" &
	pid=$!
	until grep -qE "listening|recording|watching" "$dir/err"; do
		kill -0 "$pid" 2>/dev/null || { echo "bench: failed: $*" >&2; cat "$dir/err" >&2; exit 1; }
		read -rt 0.01 <> <(:) || true
	done
	before=$(processor "$pid")
	local start=${EPOCHREALTIME/./}
	ip netns exec "$left" "$ROCEINJECT" send rc write-only -i tx0 --payload zero:16 \
		--step infiniband.bth.psn=1 --rate "$rate" --burst 32 --count "$packets" >"$dir/sent" 2>&1 ||
		{ echo "bench: the generator failed" >&2; cat "$dir/sent" >&2; exit 1; }
	local reached=$((packets * 1000000 / (${EPOCHREALTIME/./} - start)))
	# tcpdump has the kernel hand over after a second, and drops what is not.
	read -rt 1.5 <> <(:) || true
	after=$(processor "$pid")
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 0 ] || { echo "bench: failed: $*" >&2; cat "$dir/err" >&2; exit 1; }
	captured=$(sed -nE 's/^(.*[^0-9])?([0-9]+) packets (captured|written|followed).*/\2/p' "$dir/err")
	dropped=$(sed -nE 's/^(.*[^0-9])?([0-9]+) (packets )?dropped by (the )?kernel$/\2/p' "$dir/err")
	rm -f "$dir"/capture.*
	local nanoseconds=$(((after - before) / packets))
	printf '%-24s %8d packets/s: %8d of %d captured, %d dropped, %d ns a packet\n' \
		"$name" "$reached" "$captured" "$packets" "$dropped" "$nanoseconds"
	if [ "$captured" -ge "$packets" ] && [ "$dropped" = 0 ] && [ -z "${over[$name]:-}" ]; then
		best[$name]=$reached cost[$name]=$nanoseconds
	else
		over[$name]=1
	fi
}

tcpdump=$(command -v tcpdump) || { tcpdump=; echo "bench: tcpdump is not installed: no comparison with it" >&2; }
for rate in $rates; do
	once record "$rate" "$ROCECAP" record -i rx0 -w "$dir/capture.pcapng"
	once live "$rate" "$ROCECAP" live -i rx0 --plain
	if [ -n "$tcpdump" ]; then
		once tcpdump "$rate" "$tcpdump" -i rx0 -n -w "$dir/capture.pcap"
		once "tcpdump -B 32768" "$rate" "$tcpdump" -i rx0 -n -B 32768 -w "$dir/capture.pcap"
	fi
done

printf '\n%-24s %16s %14s\n' program 'packets/s kept' 'ns a packet'
for name in record live tcpdump "tcpdump -B 32768"; do
	[ -n "${best[$name]:-}" ] || continue
	printf '%-24s %16d %14d\n' "$name" "${best[$name]}" "${cost[$name]}"
done
for name in tcpdump "tcpdump -B 32768"; do
	if [ -n "${cost[record]:-}" ] && [ -n "${cost[$name]:-}" ]; then
		awk -v ours="${cost[record]}" -v theirs="${cost[$name]}" -v name="$name" 'BEGIN {
			ratio = ours / theirs
			printf "processor time of record / %s: %.2f, goal 0.7: %s\n", name, ratio, ratio <= 0.7 ? "met" : "MISSED"
		}'
	fi
done
