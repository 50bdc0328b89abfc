package roceinject

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/craft/script"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/present/text"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// craftOptions are the flags of `roceinject craft`.
type craftOptions struct {
	streams cli.Streams
	recipe  recipeFlags
	flags   *pflag.FlagSet
	count   int
	file    string
	write   string
	format  string
	tree    bool
}

func newCraft(s cli.Streams) *cobra.Command {
	o := &craftOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "craft OPCODE | -f FILE",
		Short: "Make packets and write them to a capture, or print them",
		Long: `craft makes a packet of an opcode, such as "rc write-only", "ud send-only" or
"iwarp send", or the packets of a YAML script. They are written to -w, or
printed as rocecap decode prints them.

Every field has a default. --set FIELD=VALUE changes one, by its filter name
(rocecap fields lists them); the flags below are short for the usual ones.
Values that do not fit their field are refused; a packet that no stack should
accept is made when it is asked for. docs/craft.md tells more.`,
		Example: `  roceinject craft rc write-only --qp 0x11 --psn 0x10 --rkey 0x1234 \
      --va 0x1000 --payload text:hello -w out.pcap
  roceinject craft rc send-only --payload zero:1024 --icrc flip:0 -V
  roceinject craft cnp --base rocev2-ipv6 --dst 2001:db8::5 --qp 0x22
  roceinject craft iwarp read-request --stag 0x100 --len 4096 --crc wrong
  roceinject craft rc send-only --count 100 --step infiniband.bth.psn=1 \
      -w burst.pcapng
  roceinject craft -f packets.yaml -w out.pcap
  rocecap decode -T yaml in.pcap | roceinject craft -f - -w again.pcap`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.flags = f
	o.recipe.register(f)
	f.IntVar(&o.count, "count", 1, "make `N` packets")
	f.StringVarP(&o.file, "file", "f", "", "make the packets of the YAML script `FILE`; - is the standard input")
	f.StringVarP(&o.write, "write", "w", "", "write them to `FILE` (pcap or pcapng by its name; - is stdout)")
	f.BoolVarP(&o.tree, "verbose", "V", false, "print every field")
	f.StringVarP(&o.format, "type", "T", "text", "print them as `FORMAT`: text, json or yaml")
	return cmd
}

func (o *craftOptions) run(args []string) error {
	s, err := o.script(args)
	if err != nil {
		return err
	}
	printer, err := o.printer()
	if err != nil {
		return err
	}
	if o.write != "" {
		err = writePackets(o.write, s)
	} else {
		err = printPackets(o.streams, s, printer)
	}
	return placed(o.file, err)
}

// script is what to make: of a file, or of the command line.
func (o *craftOptions) script(args []string) (script.Script, error) {
	if o.file != "" {
		if len(args) > 0 {
			return nil, errors.New("craft: an opcode and -f exclude each other")
		}
		if o.flags.Changed("count") {
			return nil, errors.New("--count makes packets of an opcode; a file has repeat")
		}
		if err := describesPacket(o.flags); err != nil {
			return nil, err
		}
		if err := spare(o.file, o.write); err != nil {
			return nil, err
		}
		return readScript(o.streams, o.file)
	}
	if len(args) == 0 {
		return nil, errors.New("craft: which opcode? `rocecap opcodes` lists them")
	}
	if o.count < 1 {
		return nil, fmt.Errorf("--count %d: want at least one packet", o.count)
	}
	item, err := o.recipe.item(strings.Join(args, " "))
	if err != nil {
		return nil, err
	}
	item.Repeat = o.count
	return script.Script{item}, nil
}

// readScript reads a script; the files that its payloads name are read too.
func readScript(s cli.Streams, name string) (script.Script, error) {
	var content []byte
	var err error
	if name == "-" {
		content, err = io.ReadAll(s.In)
	} else {
		content, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	list, err := script.Parse(content, readBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// placed names the file that an error's line is in.
func placed(file string, err error) error {
	if errors.As(err, new(*script.Error)) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return err
}

// printer prints packets.
type printer interface {
	Append(dst []byte, p *packet.Packet) []byte
}

func (o *craftOptions) printer() (printer, error) {
	palette := text.NewPalette(o.streams.Coloured())
	switch {
	case o.format == "json":
		return text.JSON{}, nil
	case o.format == "yaml":
		return text.YAML{}, nil
	case o.format != "text":
		return nil, fmt.Errorf("-T %s: the formats are text, json and yaml", o.format)
	case o.tree:
		return &text.Tree{Palette: palette}, nil
	}
	return &text.Line{Palette: palette}, nil
}

func printPackets(s cli.Streams, list script.Script, form printer) error {
	page := packetPage{out: s.Out, form: form, units: unitsOf, packet: packet.Packet{Interface: -1}}
	return list.Each(func(r *craft.Recipe) error {
		img, err := craft.Build(r)
		if err != nil {
			return err
		}
		return page.add(r.Link, img.Data, img.WireLen)
	})
}

// packetPage prints packets one after the other.
type packetPage struct {
	out    io.Writer
	form   printer
	units  func(f *wire.Frame, number int) []*iwarp.PDU // that a packet completes
	packet packet.Packet
	line   []byte
}

func (p *packetPage) add(link wire.LinkType, data []byte, wireLen int) error {
	p.packet.Number++
	p.packet.Parse(link, data, wireLen)
	p.packet.PDUs = p.units(&p.packet.Frame, p.packet.Number)
	p.line = p.form.Append(p.line[:0], &p.packet)
	if _, err := p.out.Write(p.line); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// gap is the time between packets in a capture, in nanoseconds.
const gap = 1000

// writePackets writes the packets of a script to a capture, a microsecond
// apart.
func writePackets(name string, list script.Script) error {
	var w capfile.Writer
	var at int64
	err := list.Each(func(r *craft.Recipe) error {
		img, err := craft.Build(r)
		if err != nil {
			return err
		}
		if w == nil {
			if w, err = capfile.Create(name, capfile.Interface{Link: r.Link, FCSLen: -1}); err != nil {
				return err
			}
		}
		rec := capfile.Record{Data: img.Data, WireLen: img.WireLen, Time: at, HasTime: true, Interface: -1, Link: r.Link, FCSLen: -1}
		at += gap
		return w.Write(&rec)
	})
	if w == nil {
		if err == nil {
			err = errors.New("craft: the script makes no packet")
		}
		return err
	}
	return errors.Join(err, w.Close())
}
