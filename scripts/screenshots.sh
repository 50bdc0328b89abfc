#!/usr/bin/env bash
# Draws docs/live.svg and docs/live-detail.svg from the screen of rocecap live, as
# tmux shows it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$(mktemp -d)
server=rocecap-$$
trap 'tmux -L "$server" kill-server 2>/dev/null || true; rm -rf "$bin"' EXIT
CGO_ENABLED=0 go build -o "$bin/" ./cmd/rocecap ./scripts/picture

screen() { tmux -L "$server" capture-pane -p "$@" -t live; }

# until waits until the screen has a text.
until_shown() {
	for _ in $(seq 200); do
		if screen | grep -qF -- "$1"; then return; fi
		sleep 0.1
	done
	echo "the screen never says '$1':" >&2
	screen >&2
	return 1
}

env -u NO_COLOR TZ=UTC TERM=xterm tmux -L "$server" -f /dev/null new-session -d -s live -x 100 -y 30 \
	"$bin/rocecap live -r pcaps/rc_loss_send.pcap.gz --speed 0.05 --interval 300ms"
until_shown 'end of file'
tmux -L "$server" send-keys -t live N
until_shown '▼NAK'
screen -e | "$bin/picture" >docs/live.svg
tmux -L "$server" send-keys -t live Enter
until_shown 'last packets'
screen -e | "$bin/picture" >docs/live-detail.svg
