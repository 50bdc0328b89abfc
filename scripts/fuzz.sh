#!/usr/bin/env bash
# Runs every fuzz target for a short time.
#
#   FUZZTIME=3     seconds for each target
#   FUZZTOTAL=300  seconds for all of them; each then gets its share, but at
#                  least one second
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${FUZZTIME:-3}
total=${FUZZTOTAL:-300}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mapfile -t folders < <(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u)
targets=()
for folder in "${folders[@]}"; do
	while read -r name; do
		targets+=("$folder $name")
	done < <(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$folder"/*_test.go | awk '{ print $2 }' | sort)
done
n=${#targets[@]}
if [ "$n" -eq 0 ]; then
	echo "fuzz: no targets"
	exit 0
fi
if [ $((n * seconds)) -gt "$total" ]; then
	seconds=$((total / n > 1 ? total / n : 1))
fi
echo "fuzz: $n targets, $seconds s each"

# fuzz runs one target. On a busy machine go's fuzzing at times cannot stop its
# workers when the time is over, and calls that a failure: "context deadline
# exceeded" without an input that failed. That is tried once more.
fuzz() {
	local folder=$1 name=$2 try
	for try in 1 2; do
		(cd "$folder" && "$dir/fuzz.test" -test.run='^$' -test.fuzz="^$name\$" \
			-test.fuzztime="${seconds}s" -test.fuzzcachedir="$dir/cache") >"$dir/log" 2>&1 && return 0
		if [ "$try" -eq 2 ] || grep -q "Failing input" "$dir/log" || ! grep -q "context deadline exceeded" "$dir/log"; then
			cat "$dir/log"
			return 1
		fi
		echo "fuzz: $folder $name did not stop in time, tried once more"
	done
}

# One test binary a package: go test -fuzz would link it again for each target.
built=
for target in "${targets[@]}"; do
	read -r folder name <<<"$target"
	if [ "$built" != "$folder" ]; then
		go test -c -fuzz=. -o "$dir/fuzz.test" "$folder"
		built=$folder
	fi
	echo "fuzz: $folder $name"
	fuzz "$folder" "$name"
done
echo "fuzz: $n targets passed"
