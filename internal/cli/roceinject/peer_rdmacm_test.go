package roceinject_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
)

// Mistakes are told before any device is opened.
func TestPeersOfRDMACMRefuseWhatCannotBe(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"rping -S 22 10.0.0.2", "invalid size 22 (valid range is 23 to 65535)"},
		{"rping -C -1 10.0.0.2", "invalid count -1"},
		{"rping --mtu 300 10.0.0.2", "--mtu 300"},
		{"rping --mtu 1024", "the client chooses the path MTU"},
		{"rping 10.0.0.2", "on which interface?"},
		{"rping -i lo 10.0.0.2 10.0.0.3", "one word too many"},
		{"ucmatose -c 0 10.0.0.2", "at least one connection"},
		{"ucmatose -S 0", "of 1 to"},
		{"udaddy -i lo 10.0.0.2", "which address is the endpoint's own?"},
	} {
		var out bytes.Buffer
		err := roceinject.RunPeer(strings.Fields(test.args), cli.Streams{Out: &out, Err: &out})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.args, err, test.want)
		}
	}
}
