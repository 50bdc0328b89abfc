package rocecap

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/wire"
)

// newFields lists the display-filter fields.
func newFields(s Streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "fields [PATTERN]",
		Short: "List the fields that -e and -Y know",
		Long: `fields lists every field with its type and meaning. PATTERN is a part of a
name, or a shell pattern such as 'infiniband.bth.*'. Names are Wireshark's where
it has the field.`,
		Example: "  rocecap fields aeth\n  rocecap fields 'infiniband.cm.req.*'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pattern := ""
			if len(args) > 0 {
				pattern = args[0]
			}
			return listFields(s.Out, pattern, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func listFields(w io.Writer, pattern string, asJSON bool) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("fields: %q is no shell pattern: %w", pattern, err)
	}
	type entry struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Title string `json:"title"`
	}
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	found := false
	for _, ref := range field.All() {
		if !fits(pattern, ref.Name) {
			continue
		}
		found = true
		if !asJSON {
			fmt.Fprintf(out, "%-48s %-8s %s\n", ref.Name, ref.TypeName(), ref.Title)
		} else if err := lines.Encode(entry{ref.Name, ref.TypeName(), ref.Title}); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("fields: nothing fits %q", pattern)
	}
	return out.Flush()
}

// fits reports whether a name has the pattern in it, or is what a shell pattern,
// known to be a right one, describes.
func fits(pattern, name string) bool {
	pattern = strings.ToLower(pattern)
	if strings.ContainsAny(pattern, "*?[") {
		ok, _ := path.Match(pattern, name)
		return ok
	}
	return strings.Contains(name, pattern)
}

// newOpcodes prints the opcode table.
func newOpcodes(s Streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "opcodes",
		Short: "Print the BTH opcode table with the headers each implies",
		Long: `opcodes prints each defined opcode with its name and what follows: the headers
in the order of the packet, and "payload" where there may be some. Every packet
ends with an ICRC.`,
		Example: "  rocecap opcodes\n  rocecap opcodes --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return listOpcodes(s.Out, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func listOpcodes(w io.Writer, asJSON bool) error {
	type entry struct {
		Opcode  int      `json:"opcode"`
		Name    string   `json:"name"`
		Service string   `json:"service"`
		Headers []string `json:"headers"`
	}
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for code := range 256 {
		info := wire.Opcode(code).Info()
		if !info.Defined() {
			continue
		}
		headers := headersOf(info)
		if !asJSON {
			fmt.Fprintf(out, "0x%02x  %-30s %s\n", code, info.Name, strings.Join(headers, " "))
		} else if err := lines.Encode(entry{code, info.Name, info.Service.String(), headers}); err != nil {
			return err
		}
	}
	if !asJSON {
		fmt.Fprintf(out, "0xc0-0xff  manufacturer opcodes, not decoded\n")
	}
	return out.Flush()
}

// headersOf names what a packet of the opcode is made of.
func headersOf(info *wire.OpcodeInfo) []string {
	headers := []string{"BTH"}
	for _, id := range info.Extended() {
		headers = append(headers, shortHeader(id))
	}
	if info.Payload {
		headers = append(headers, "payload")
	}
	return headers
}

// shortHeader is the last word of a header's filter name, in capitals.
func shortHeader(id wire.HeaderID) string {
	name := wire.SpecOf(id).Name
	return strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
}
