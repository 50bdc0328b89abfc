#!/usr/bin/env bash
# Runs the tests that need real RDMA peers (lab/README.md): builds the guests'
# system when it is not there yet, starts one lab for all packages, and removes
# it at the end. Arguments go to go test.
#
# Where the lab cannot run, for want of root, of QEMU or of a Debian mirror, it
# says so and succeeds, unless CI_REQUIRE names lab.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_minutes=20

skip() {
	echo "================================================================"
	echo "LAB TESTS SKIPPED: $*"
	echo "Nothing was tested against a real RDMA stack."
	echo "================================================================"
	case ",${CI_REQUIRE:-}," in
	*,lab,*) echo "CI_REQUIRE promises lab" && exit 1 ;;
	esac
	exit 0
}

scripts/setup.sh qemu-system-x86_64 debootstrap ip flock || skip "the packages that it needs could not be installed"
code=0
timeout --foreground "${build_minutes}m" lab/peerlab build || code=$?
case $code in
0) ;;
3) skip "the guests' system cannot be built here (see above)" ;;
124) skip "the guests' system was not built within $build_minutes minutes" ;;
*) exit 1 ;;
esac
lab/peerlab check || skip "it cannot run here (see above)"

export ROCE_LAB=1 LAB_NETNS=rocelab$$ LAB_OWNER=$$
export CI_REQUIRE=${CI_REQUIRE:+$CI_REQUIRE,}lab # nothing is missing: no test may skip

# The packages whose tests use lab, and lab itself.
mapfile -t packages < <(go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./... |
	awk '/^[^ ]*\/lab / || / [^ ]*\/lab /{print $1}')
echo "lab: ${packages[*]}"
log=$(mktemp)
trap 'lab/peerlab down; rm -f "$log"' EXIT

lab_tests() {
	local pattern=$1
	shift
	go test -count=1 -p 1 -timeout 25m -run "$pattern" "$@" "${packages[@]}" 2>&1 | tee "$log"
}

lab_tests '^TestLab' "$@" && exit 0

# The guests are emulated, and at times fail of themselves: perftest refuses to
# report when it cannot measure the clock, rxe calls a request of another rxe
# invalid, a guest dies. What failed is tried once more, in new guests, and has to
# pass then.
failed=$(sed -n 's/^--- FAIL: \(Test[A-Za-z0-9_]*\).*/\1/p' "$log" | sort -u | paste -sd '|')
[ -n "$failed" ] || exit 1
echo "================================================================"
echo "LAB TESTS THAT FAILED, TRIED ONCE MORE: ${failed//|/ }"
echo "================================================================"
lab/peerlab down
lab_tests "^($failed)\$" "$@"
