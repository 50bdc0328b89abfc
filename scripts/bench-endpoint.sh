#!/usr/bin/env bash
# Compares what two endpoints carry over a veth pair with RDMA WRITE, at path MTU
# 4096, with what iperf3 carries by UDP in datagrams of the same size, in one run
# on one machine. iperf3 sends as fast as it can and may lose; an endpoint's bytes
# have all been acknowledged. They take turns; the median of each counts.
#
#   BENCH_SCALE=0.1   sends for a shorter time
#   BENCH_RUNS=5      runs of each (default 5)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench="the endpoint"
source scripts/bench-common.sh

scripts/setup.sh ip iperf3 || skip "iperf3 could not be installed"
runs=${BENCH_RUNS:-5}
seconds=$(count 3 1)
cable mtu 4200
ip -n "$left" addr add 10.0.0.11/24 dev tx0
ip -n "$right" addr add 10.0.0.12/24 dev rx0
ip netns exec "$right" iperf3 -s -D
until ip netns exec "$right" ss -Hltn | grep -q ':5201 '; do sleep 0.1; done

go test -c -o "$dir/endpoint.test" ./endpoint

# iperf prints what the sender and the receiver of iperf3 saw, in Gbit/s.
iperf() {
	ip netns exec "$left" iperf3 -c 10.0.0.12 -u -b 0 -l 4096 -t "$seconds" -f g |
		awk '$NF == "sender" {sent = $7} $NF == "receiver" {got = $7} END {print sent, got}'
}

# endpoints prints Gbit/s and nanoseconds for each packet.
endpoints() {
	(cd endpoint && "$dir/endpoint.test" -test.run '^$' -test.bench '^BenchmarkWriteOverVeth$' \
		-test.benchtime "${seconds}s") |
		awk '/^BenchmarkWriteOverVeth/ {for (i = 2; i < NF; i++) {if ($(i + 1) == "Gbit/s") g = $i; if ($(i + 1) == "ns/packet") n = $i}} END {print g, n}'
}

median() { sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

for ((i = 0; i < runs; i++)); do
	iperf >>"$dir/iperf"
	endpoints >>"$dir/endpoint"
done
sent=$(cut -d' ' -f1 "$dir/iperf" | median)
got=$(cut -d' ' -f2 "$dir/iperf" | median)
ours=$(cut -d' ' -f1 "$dir/endpoint" | median)
cost=$(cut -d' ' -f2 "$dir/endpoint" | median)
awk -v sent="$sent" -v got="$got" -v ours="$ours" -v cost="$cost" -v runs="$runs" 'BEGIN {
	printf "Payload over veth in packets of 4096 bytes, median of %d runs, Gbit/s:\n", runs
	printf "  %-44s %6.2f   %s\n", "endpoint to endpoint, RDMA WRITE, acknowledged", ours, cost " ns a packet, both ends"
	printf "  %-44s %6.2f   ratio %.2f\n", "iperf3 -u, sent", sent, ours / sent
	printf "  %-44s %6.2f   ratio %.2f\n", "iperf3 -u, received", got, ours / got
}'
