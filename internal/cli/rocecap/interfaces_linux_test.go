package rocecap_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/nettest"
)

func TestInterfacesOfANamespaceAreListed(t *testing.T) {
	left, _ := nettest.Pair(t)
	left.IP(t, "link set "+nettest.LeftInterface+" mtu 4200")
	left.IP(t, "address add 192.0.2.1/24 dev "+nettest.LeftInterface)
	left.Do(t, func() {
		text := run("interfaces", nettest.LeftInterface)
		if text.code != 0 || !strings.Contains(text.out, "MTU 4200") || !strings.Contains(text.out, "192.0.2.1/24") {
			t.Errorf("%+v", text)
		}
		var list []struct {
			Name    string
			Path    int `json:"path_mtu"`
			Advice  []string
			Address []string `json:"addresses"`
		}
		if r := run("interfaces", "--json"); json.Unmarshal([]byte(r.out), &list) != nil || len(list) < 2 {
			t.Fatalf("%+v", r)
		}
		for _, l := range list {
			if l.Name == nettest.LeftInterface && (l.Path != 4096 || len(l.Advice) == 0 || !slices.Contains(l.Address, "192.0.2.1/24")) {
				t.Errorf("%+v", l)
			}
		}
		if r := run("interfaces", "none0"); r.code != 2 || !strings.Contains(r.err, "none0: there is no such interface") {
			t.Errorf("%+v", r)
		}
	})
}
