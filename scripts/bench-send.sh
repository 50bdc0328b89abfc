#!/usr/bin/env bash
# Compares how many packets a second roceinject, trafgen and scapy send over a
# veth pair, in one run on one machine. QPN, PSN and ICRC change per packet in
# roceinject and scapy; trafgen cannot compute an ICRC, and counts one byte of
# QPN and PSN each. The peer drops what arrives: it is for another MAC address.
# All pass by the queues (trafgen unless told otherwise): roceinject then uses an
# AF_XDP socket, trafgen a ring of a packet socket. The programs take turns.
#
#   BENCH_SCALE=0.1   sends fewer packets
#   BENCH_RUNS=5      runs of each program (default and minimum 3)
#   ROCEINJECT=PATH   measures that binary instead of building one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=sending
source scripts/bench-common.sh

cable
ROCEINJECT=$(binary roceinject)
received() { ip netns exec "$right" cat /sys/class/net/rx0/statistics/rx_packets; }

# The most packets a second seen of each program, by name, and the least time of
# the processors that a packet took, in nanoseconds.
declare -A best cost

# once NAME PACKETS COMMAND... runs a command that sends so many packets.
once() {
	local name=$1 packets=$2 before after real user sys rate nanoseconds
	shift 2
	before=$(received)
	local TIMEFORMAT='%R %U %S'
	{ time ip netns exec "$left" "$@" >"$dir/out" 2>&1; } 2>"$dir/time" || fail "$dir/out" "failed: $*"
	read -r real user sys <"$dir/time"
	after=$(received)
	[ $((after - before)) -ge "$packets" ] || fail /dev/null "$name sent $((after - before)) of $packets packets"
	rate=$(awk "BEGIN { printf \"%d\", $packets / $real }")
	nanoseconds=$(awk "BEGIN { printf \"%d\", ($user + $sys) * 1e9 / $packets }")
	if [ "$rate" -gt "${best[$name]:-0}" ]; then best[$name]=$rate; fi
	if [ "$nanoseconds" -lt "${cost[$name]:-999999999}" ]; then cost[$name]=$nanoseconds; fi
}

# config PAYLOAD writes trafgen's configuration: the packet that roceinject
# makes, with counters in the low bytes of QPN (at 49) and PSN (at 53).
config() {
	"$ROCEINJECT" craft rc write-only --payload "zero:$1" -w "$dir/one.pcap"
	od -An -v -tx1 -w1 -j40 "$dir/one.pcap" | awk '
		BEGIN { printf "{ " }
		{ gsub(/ /, ""); item = "0x" $0 }
		NR == 50 || NR == 54 { item = "dinc(0, 255, 1)" }
		{ printf "%s%s", (NR > 1 ? ", " : ""), item }
		END { print " }" }' >"$dir/trafgen-$1.cfg"
}

cat >"$dir/send.py" <<'PY'
import sys
from scapy.all import IP, UDP, Ether, Raw, conf
from scapy.contrib.roce import BTH

count, size = int(sys.argv[1]), int(sys.argv[2])
out = conf.L2socket(iface="tx0")
payload = bytes(16 + size)  # scapy has no RETH
for n in range(count):
    out.send(
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
        / IP(src="192.0.2.1", dst="192.0.2.2")
        / UDP(sport=49152, dport=4791)
        / BTH(opcode=10, dqpn=n & 0xFFFFFF, psn=n & 0xFFFFFF)
        / Raw(payload)
    )
PY

python=
for p in /usr/bin/python3 python3; do
	if "$p" -c 'import scapy.contrib.roce' 2>/dev/null; then python=$p; break; fi
done
[ -n "$python" ] || echo "bench: scapy is not installed: no comparison with it" >&2
trafgen=$(have trafgen) || true

fast=$(count 1000000 100) slow=$(count 4000 100)
for size in 16 1024; do
	config "$size"
	for ((i = 0; i < runs; i++)); do
		send=("$ROCEINJECT" send rc write-only -i tx0 --payload "zero:$size" --qdisc-bypass
			--step infiniband.bth.psn=1 --step infiniband.bth.destqp=1 --rate max --count "$fast")
		once "roceinject $size" "$fast" "${send[@]}"
		once "roceinject many $size" "$fast" "${send[@]}" --senders "$(nproc)"
		if [ -n "$trafgen" ]; then
			once "trafgen $size" "$fast" "$trafgen" -c "$dir/trafgen-$size.cfg" -o tx0 -n "$fast" -P 1 -C -Q
			once "trafgen all $size" "$fast" "$trafgen" -c "$dir/trafgen-$size.cfg" -o tx0 -n "$fast" -C -Q
		fi
		if [ -n "$python" ]; then
			once "scapy $size" "$slow" "$python" "$dir/send.py" "$slow" "$size"
		fi
	done
done

# row LABEL OURS THEIRS GOAL prints one comparison.
row() {
	local ours=${best[$2]} theirs=${best[$3]:-}
	if [ -z "$theirs" ]; then
		printf '%-40s %10d %10s   not compared: no such tool here\n' "$1" "$ours" -
		return
	fi
	awk -v label="$1" -v ours="$ours" -v theirs="$theirs" -v goal="$4" -v a="${cost[$2]}" -v b="${cost[$3]}" 'BEGIN {
		ratio = ours / theirs
		printf "%-40s %10d %10d %8.2fx", label, ours, theirs, ratio
		verdict = ratio >= goal ? "met" : "MISSED"
		if (goal > 0) printf "   >= %6.2fx   %-6s", goal, verdict
		else printf "%21s", ""
		printf "   %6d %8d %8.2fx\n", a, b, b / a
	}'
}

echo
echo "binary: $ROCEINJECT; $(nproc) cores; best of $runs runs of $fast packets (scapy $slow)"
echo "packets a second over a veth pair, start and end of the programs included; and"
echo "nanoseconds of the processors for each, which other load disturbs less"
printf '%-40s %10s %10s %9s   %9s   %6s   %6s %8s %9s\n' "RC WRITE Only" "roceinject" "other" "ratio" "goal" "" "ns" "ns other" "ratio"
for size in 16 1024; do
	row "/ trafgen, one process, $size B" "roceinject $size" "trafgen $size" 1
	row "$(nproc) senders / trafgen on all cores, $size B" "roceinject many $size" "trafgen all $size" 1
	row "/ scapy, $size B" "roceinject $size" "scapy $size" 100
done
