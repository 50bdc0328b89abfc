package text

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/craft/script"
	"github.com/rocecap/rocecap/internal/present/packet"
)

// YAML prints packets as a script that makes the same bytes again: fields that
// have their default are left out.
type YAML struct{}

// Append adds the packet's item to dst.
func (YAML) Append(dst []byte, p *packet.Packet) []byte {
	seen := look(&p.Frame)
	seen.width = 0
	dst = appendCount(dst, "# ", p.Number, " ")
	dst = append(dst, protocolName(p)...)
	dst = seen.appendInfo(append(dst, ' '), p)
	dst = append(dst, '\n')
	recipe, err := craft.Describe(&p.Frame)
	if err == nil {
		dst, err = script.Append(dst, recipe)
	}
	if err != nil { // no frame that was parsed is without a description
		dst = fmt.Appendf(dst, "# cannot be described: %v\n", err)
	}
	return dst
}
