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
	out := bufio.NewWriter(w)
	found := false
	for _, ref := range field.All() {
		if !fits(pattern, ref.Name) {
			continue
		}
		found = true
		if asJSON {
			line, err := json.Marshal(map[string]string{"name": ref.Name, "type": ref.TypeName(), "title": ref.Title})
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", line)
			continue
		}
		fmt.Fprintf(out, "%-48s %-8s %s\n", ref.Name, ref.TypeName(), ref.Title)
	}
	if !found {
		return fmt.Errorf("fields: nothing fits %q", pattern)
	}
	return out.Flush()
}

func fits(pattern, name string) bool {
	if strings.ContainsAny(pattern, "*?[") {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	return strings.Contains(name, strings.ToLower(pattern))
}

// newOpcodes prints the opcode table.
func newOpcodes(s Streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "opcodes",
		Short: "Print the BTH opcode table with the headers each implies",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return listOpcodes(s.Out, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func listOpcodes(w io.Writer, asJSON bool) error {
	out := bufio.NewWriter(w)
	for code := range 256 {
		info := wire.Opcode(code).Info()
		if !info.Defined() {
			continue
		}
		headers := []string{"BTH"}
		for _, id := range info.Extended() {
			headers = append(headers, shortHeader(id))
		}
		if info.Payload {
			headers = append(headers, "payload")
		}
		if asJSON {
			line, err := json.Marshal(map[string]any{"opcode": code, "name": info.Name, "service": info.Service.String(), "headers": headers})
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", line)
			continue
		}
		fmt.Fprintf(out, "0x%02x  %-30s %s\n", code, info.Name, strings.Join(headers, " "))
	}
	if !asJSON {
		fmt.Fprintf(out, "0xc0-0xff  manufacturer opcodes, not decoded\n")
	}
	return out.Flush()
}

// shortHeader is the last word of a header's filter name, in capitals.
func shortHeader(id wire.HeaderID) string {
	name := wire.SpecOf(id).Name
	return strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
}
