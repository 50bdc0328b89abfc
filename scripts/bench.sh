#!/usr/bin/env bash
# Compares rocecap with tshark, tcpdump and a plain read of the same bytes, in
# one run on one machine, and says which goals are met.
#
#   BENCH_SCALE=0.1   shrinks the captures
#   BENCH_RUNS=5      runs of each fast command (default and minimum 3)
#   ROCECAP=PATH      measures that binary instead of building one
#   BENCH_DIR=DIR     where the captures go (1.2 GB; default a temporary folder)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bench=decoding
source scripts/bench-common.sh

max_rss_mib=128
max_rss_few_mib=64       # analyze: a million packets on 4 connections
max_rss_analyze_mib=512  # analyze: whatever there is, docs/analyze.md "Large captures"

go build -o "$dir/gencap" ./internal/gencap/cmd/gencap
go build -o "$dir/measure" ./scripts/measure
ROCECAP=$(binary rocecap)

big=$dir/1KiB.pcap
small=$dir/16B.pcap
"$dir/gencap" -n "$(count 500000)" -size 1024 -o "$big"
"$dir/gencap" -n "$(count 1000000)" -size 16 -o "$small"
few=$dir/4QPs.pcap
many=$dir/manyQPs.pcap
"$dir/gencap" -n "$(count 1000000)" -size 16 -qps 4 -o "$few"
"$dir/gencap" -n "$(count 5000000)" -size 16 -qps 64 -life 1 -o "$many"
cat "$big" "$small" >/dev/null # into the page cache

# The fastest time and the largest memory seen of each command, by name.
declare -A best peak

# once NAME COMMAND... runs the command one time.
once() {
	local name=$1 seconds rss
	shift
	"$dir/measure" "$@" 3>"$dir/result" >/dev/null 2>"$dir/stderr" || fail "$dir/stderr" "failed: $*"
	read -r seconds rss <"$dir/result"
	if [ -z "${best[$name]:-}" ] || awk "BEGIN { exit !($seconds < ${best[$name]}) }"; then
		best[$name]=$seconds
	fi
	if [ "$rss" -gt "${peak[$name]:-0}" ]; then
		peak[$name]=$rss
	fi
}

# row LABEL OURS THEIRS GOAL prints one comparison; GOAL is the least that
# THEIRS / OURS may be.
row() {
	local label=$1 ours=${best[$2]} theirs=${best[$3]:-} goal=$4
	if [ -z "$theirs" ]; then
		printf '%-44s %9.3f s %11s   not compared: no such tool here\n' "$label" "$ours" -
		return
	fi
	awk -v label="$label" -v ours="$ours" -v theirs="$theirs" -v goal="$goal" 'BEGIN {
		ratio = theirs / ours
		verdict = ratio >= goal ? "met" : "MISSED"
		by = ratio >= goal ? ratio / goal : goal / ratio
		printf "%-44s %9.3f s %9.3f s %8.2fx   >= %5.2fx   %-6s by a factor of %.2f\n",
			label, ours, theirs, ratio, goal, verdict, by
	}'
}

tshark=$(have tshark) || true
tcpdump=$(have tcpdump) || true

fields=(-T fields -e infiniband.bth.opcode -e infiniband.bth.psn)

for file in "$big" "$small"; do
	tag=$(basename "$file" .pcap)
	# tshark takes long, so it runs once; the others take turns.
	if [ -n "$tshark" ]; then
		once "tshark fields $tag" tshark -r "$file" "${fields[@]}"
		once "tshark text $tag" tshark -r "$file"
	fi
	for ((i = 0; i < runs; i++)); do
		once "fields $tag" "$ROCECAP" decode "${fields[@]}" "$file"
		once "text $tag" "$ROCECAP" decode "$file"
		if [ -n "$tcpdump" ]; then
			once "tcpdump $tag" tcpdump -n -r "$file"
		fi
		once "icrc $tag" "$ROCECAP" icrc "$file"
		once "analyze $tag" "$ROCECAP" analyze "$file"
		once "analyze 1 core $tag" env GOMAXPROCS=1 "$ROCECAP" analyze "$file"
		once "read $tag" bash -c 'cat "$1" | wc -c' bash "$file"
		once "stat $tag" wc -c "$file"
	done
done

once "analyze few" "$ROCECAP" analyze "$few"
once "analyze many" "$ROCECAP" analyze --json "$many"
conversations=$("$ROCECAP" analyze -n 0 "$many" | head -n 2)

echo
echo "binary: $ROCECAP"
echo "$(nproc) cores; $(count 500000) packets of 1 KiB ($(stat -c %s "$big") bytes), $(count 1000000) of 16 B ($(stat -c %s "$small") bytes)"
echo "fastest of $runs runs (tshark: 1), output to /dev/null, captures in the page cache"
echo
printf '%-44s %11s %11s %9s   %9s\n' "comparison" "rocecap" "other" "ratio" "goal"
for tag in 1KiB 16B; do
	row "two fields / tshark -T fields, $tag" "fields $tag" "tshark fields $tag" 50
	row "text / tshark, $tag" "text $tag" "tshark text $tag" 20
	row "text / tcpdump -n, $tag" "text $tag" "tcpdump $tag" 1
done
row "icrc / cat FILE | wc -c (reads it), 1KiB" "icrc 1KiB" "read 1KiB" 0.5
row "analyze / tshark -T fields, 1KiB" "analyze 1KiB" "tshark fields 1KiB" 100
row "analyze / cat FILE | wc -c, 1KiB" "analyze 1KiB" "read 1KiB" 0.5
for tag in 1KiB 16B; do
	row "analyze / the same on one core, $tag" "analyze $tag" "analyze 1 core $tag" 1.6
done
echo
printf 'for comparison: plain "wc -c FILE" only asks for the size (stat) and took %s s on 1KiB\n' "${best[stat 1KiB]}"
printf 'icrc on 16B took %s s, reading it %s s (no goal)\n' "${best[icrc 16B]}" "${best[read 16B]}"
echo
printf '%-44s %11s\n' "peak memory of rocecap" "MiB"
# memory LABEL NAME MAX prints how much a command took at most, in MiB.
memory() {
	awk -v label="$1" -v kib="${peak[$2]}" -v max="$3" 'BEGIN {
		mib = kib / 1024
		verdict = mib < max ? "met" : "MISSED"
		by = mib < max ? max - mib : mib - max
		printf "%-44s %11.1f   < %d MiB   %-6s by %.1f MiB\n", label, mib, max, verdict, by
	}'
}
for tag in 1KiB 16B; do
	for what in fields text icrc analyze; do
		memory "$what, $tag" "$what $tag" "$max_rss_mib"
	done
done
memory "analyze, $(count 1000000) packets on 4 QPs" "analyze few" "$max_rss_few_mib"
memory "analyze, $(count 5000000) QPs" "analyze many" "$max_rss_analyze_mib"
echo
echo "$conversations" | sed "s|$dir/||"
