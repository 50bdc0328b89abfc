#!/usr/bin/env bash
# Compares how many packets a second programs capture without losing one, and
# the processor time that a packet costs them. A generator sends small RoCEv2
# packets over a veth pair at rising rates; a rate counts when every packet was
# captured and the kernel dropped none; who loses some may try once more. tcpdump
# runs with its own buffer and with one as large as ours. The programs take turns.
#
#   BENCH_SCALE=0.1    sends fewer packets
#   BENCH_RATES="..."  the rates to try, packets a second; what the generator
#                      reached is printed
#   BENCH_REQUIRE=1    fails when record or live loses packets at a rate at which
#                      tcpdump with its own buffer loses none
#   ROCECAP=PATH ROCEINJECT=PATH   measure those binaries instead of building some
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=capturing
source scripts/bench-common.sh

cable
packets=$(count 2000000 1000)
rates=${BENCH_RATES:-100000 200000 300000 400000 500000 600000 800000 1000000}
ROCEINJECT=$(binary roceinject)
ROCECAP=$(binary rocecap)

# For each program: the highest rate without loss, what of it the generator reached,
# and the processor time that a packet took there, in nanoseconds.
declare -A kept best cost over

# processor PID prints the time that the process's threads have run, in nanoseconds.
processor() { cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }'; }

# once NAME RATE COMMAND... captures while the generator sends, at RATE, and reports
# whether nothing was lost.
once() {
	local name=$1 rate=$2 pid before after received captured dropped status
	shift 2
	ip netns exec "$right" "$@" >"$dir/out" 2>"$dir/err" &
	pid=$!
	until grep -qE "listening|recording|watching" "$dir/err"; do
		kill -0 "$pid" 2>/dev/null || fail "$dir/err" "failed: $*"
		read -rt 0.01 <> <(:) || true
	done
	before=$(processor "$pid")
	local start=${EPOCHREALTIME/./}
	ip netns exec "$left" "$ROCEINJECT" send rc write-only -i tx0 --payload zero:16 \
		--step infiniband.bth.psn=1 --rate "$rate" --burst 32 --count "$packets" >"$dir/sent" 2>&1 ||
		fail "$dir/sent" "the generator failed"
	local reached=$((packets * 1000000 / (${EPOCHREALTIME/./} - start)))
	# tcpdump has the kernel hand over after a second, and drops what is not.
	read -rt 1.5 <> <(:) || true
	after=$(processor "$pid")
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 0 ] || fail "$dir/err" "failed: $*"
	captured=$(sed -nE 's/^(.*[^0-9])?([0-9]+) packets (captured|written|followed).*/\2/p' "$dir/err")
	dropped=$(sed -nE 's/^(.*[^0-9])?([0-9]+) (packets )?dropped by (the )?kernel(,.*)?$/\2/p' "$dir/err")
	received=$(sed -nE 's/^(.*[^0-9])?([0-9]+) (packets )?received by (the )?filter.*/\2/p' "$dir/err")
	rm -f "$dir"/capture.*
	local nanoseconds=$(((after - before) / packets))
	printf '%-24s %8d packets/s: %8d captured of %d that came, %d dropped, %d ns a packet\n' \
		"$name" "$reached" "$captured" "$received" "$dropped" "$nanoseconds"
	# What the cable itself loses on a busy machine comes to no capture.
	[ "$captured" -ge "$((received < packets ? received : packets))" ] && [ "$dropped" = 0 ] || return 1
	if [ -z "${over[$name]:-}" ]; then
		kept[$name]=$rate best[$name]=$reached cost[$name]=$nanoseconds
	fi
}

# at NAME RATE COMMAND... captures at most twice.
at() { once "$@" || once "$@" || over[$1]=1; }

tcpdump=$(have tcpdump) || true
for rate in $rates; do
	at record "$rate" "$ROCECAP" record -i rx0 -w "$dir/capture.pcapng"
	at live "$rate" "$ROCECAP" live -i rx0 --plain
	if [ -n "$tcpdump" ]; then
		at tcpdump "$rate" "$tcpdump" -i rx0 -n -w "$dir/capture.pcap"
		at "tcpdump -B 32768" "$rate" "$tcpdump" -i rx0 -n -B 32768 -w "$dir/capture.pcap"
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
for name in record live; do
	if [ "${kept[$name]:-0}" -lt "${kept[tcpdump]:-0}" ]; then
		echo "$name loses packets at a rate at which tcpdump loses none"
		[ -z "${BENCH_REQUIRE:-}" ] || exit 1
	fi
done
