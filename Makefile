# make test   what a change has to pass, with its own set-up
# make lab    the guests for the tests against real RDMA peers; test-lab runs those
# make lint   formatting, vet, staticcheck, tidy module file
# make build  bin/rocecap and the other commands
# make bench  speed and memory against tshark, tcpdump, trafgen, scapy and iperf3
# make soak   a day of SOAK packets for rocecap live, as fast as it goes
# make nightly   hours: the soak, GAMES random games between queue pairs, PACKETS
#                packets in virtual time, FRAMES hostile frames at a device
# make golden writes the golden files anew; read the diff before committing it

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

export CGO_ENABLED := 0

PLATFORMS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64
# What runs goroutines, and what goroutines call.
RACE := $(patsubst %,./%/...,$(wildcard internal/track internal/transport internal/netio internal/wire internal/peer icrc endpoint internal/cli))
TOOL := go tool -modfile=tools.mod

.PHONY: test test-lab lab setup cross unit race fuzz lint build bench soak nightly golden

test: setup cross unit race fuzz

setup:
	scripts/setup.sh

cross:
	for p in $(PLATFORMS); do \
		echo "build $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} go build ./...; \
	done

unit:
	go vet ./...
	go test -shuffle=on ./...

race:
	if command -v gcc >/dev/null; then \
		CGO_ENABLED=1 go test -race -shuffle=on $(RACE); \
	else \
		echo "race detector SKIPPED: it needs gcc"; \
	fi

fuzz:
	scripts/fuzz.sh

lab:
	lab/peerlab build

test-lab:
	scripts/lab.sh

lint:
	unformatted=$$($(TOOL) gofumpt -l .); \
	if [ -n "$$unformatted" ]; then \
		echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; \
	fi
	go vet ./...
	$(TOOL) staticcheck ./...
	go mod tidy -diff

build:
	go build -trimpath -o bin/ ./cmd/...

bench:
	scripts/bench.sh
	scripts/bench-capture.sh
	scripts/bench-send.sh
	scripts/bench-endpoint.sh

soak: SOAK ?= 10000000
soak:
	ROCECAP_SOAK=$(SOAK) go test -count=1 -timeout=0 -run='^TestMemoryStaysFlat' -v ./internal/cli/rocecap

# Per core and second about 200,000 packets in virtual time and 250,000 frames.
nightly: GAMES ?= 10000
nightly: PACKETS ?= 100000000
nightly: FRAMES ?= 1000000000
nightly: soak
	go test -count=1 -timeout=0 -run='^Test(RandomWork|Unnoticed)' -v ./internal/transport/qp -rapid.checks=$(GAMES)
	ROCECAP_PACKETS=$(PACKETS) go test -count=1 -timeout=0 -run='^TestPacketsInVirtualTime' -v ./internal/transport/qp
	ROCECAP_FRAMES=$(FRAMES) go test -count=1 -timeout=0 -run='^TestHostileFrames' -v ./endpoint

golden:
	folders=$$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u); \
	if [ -n "$$folders" ]; then go test $$folders -update; fi
