package rocecap

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// overrule is what the user says about packets, whatever the capture says.
type overrule struct {
	upper map[uint32]wire.Upper // by destination QP
	port  uint16                // one more UDP port for RoCEv2
}

// parseOverrules reads --decode-as arguments: QP=PROTO, or tshark's form
// udp.port==N,infiniband.
func parseOverrules(args []string) (*overrule, error) {
	o := &overrule{upper: make(map[uint32]wire.Upper)}
	for _, arg := range args {
		if err := o.add(arg); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *overrule) add(arg string) error {
	if port, proto, ok := strings.Cut(arg, ","); ok {
		number, isPort := strings.CutPrefix(port, "udp.port==")
		n, err := strconv.ParseUint(number, 0, 16)
		if !isPort || err != nil || n == 0 || (proto != "infiniband" && proto != "roce") {
			return fmt.Errorf("--decode-as %s: want udp.port==N,infiniband", arg)
		}
		o.port = uint16(n)
		return nil
	}
	number, proto, ok := strings.Cut(arg, "=")
	qp, err := strconv.ParseUint(number, 0, 24)
	if !ok || err != nil {
		return fmt.Errorf("--decode-as %s: want QP=PROTO, such as 0x11=nvme", arg)
	}
	upper, known := wire.UpperByName(proto)
	if !known {
		return fmt.Errorf("--decode-as %s: unknown protocol %q; there are %s", arg, proto, strings.Join(wire.UpperNames(), ", "))
	}
	o.upper[uint32(qp)] = upper
	return nil
}
