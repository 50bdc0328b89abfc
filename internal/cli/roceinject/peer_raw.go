package roceinject

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/peer/raw"
)

// rawOptions are the flags of `roceinject peer raw`.
type rawOptions struct {
	device peerDevice
	peer   raw.Options
	typ    string
	mtu    int
	remote raw.Side
	gid    string
	file   string
	dump   bool
}

func newPeerRaw(s cli.Streams) *cobra.Command {
	o := &rawOptions{device: peerDevice{streams: s}}
	cmd := &cobra.Command{
		Use:   "raw [OPERATION...]",
		Short: "Talk to any verbs program: queue pair numbers, PSNs and keys by hand or in JSON",
		Long: `raw makes one queue pair and prints what the other side needs, as one line of JSON.
The other side is given by flags, or in the same form by --remote FILE, of which -
is the standard input. Then the operations are done in their order:

  send=DATA, recv                 DATA: hexadecimal, text:TEXT, zero:N or @FILE
  write[@OFFSET]=DATA             to the other side's VA plus OFFSET
  read[@OFFSET]=LENGTH
  add[@OFFSET]=N, swap[@OFFSET]=OLD:NEW

Without any it serves until --deadline or Ctrl-C. The exit code is 1 when one
failed.`,
		Example: `  roceinject peer raw -i eth1 --ip 10.0.0.9 --qpn 0x11 --psn 0x1234 --gid 10.0.0.2 send=text:hello recv
  program | roceinject peer raw -i eth1 --ip 10.0.0.9 --remote - write=text:hello read=5`,
		RunE: interruptible(o.run),
	}
	f := cmd.Flags()
	o.device.register(f)
	f.StringVar(&o.typ, "type", "rc", "make a queue pair of `TYPE` rc, uc or ud")
	f.IntVarP(&o.mtu, "mtu", "m", 0, "have the path MTU `N` (default: what fits)")
	f.Uint32Var(&o.peer.QPN, "own-qpn", 0, "have the queue pair number `N` (default: drawn)")
	f.Uint32Var(&o.peer.PSN, "own-psn", 0, "begin with the PSN `N` (default: drawn)")
	f.IntVar(&o.peer.Memory, "memory", 4096, "let the other side reach `N` bytes")
	f.IntVarP(&o.peer.Receives, "rx-depth", "r", 8, "have `N` receives posted")
	f.Uint32Var(&o.peer.QKey, "qkey", endpoint.DefaultQKey, "have the Q_Key `N` (ud)")
	f.StringVar(&o.file, "remote", "", "read the other side from the JSON `FILE`")
	f.Uint32Var(&o.remote.QPN, "qpn", 0, "the other side's queue pair number `N`")
	f.Uint32Var(&o.remote.PSN, "psn", 0, "the other side's first PSN `N`")
	f.StringVar(&o.gid, "gid", "", "the other side's `GID`, its IP address")
	f.Uint32Var(&o.remote.RKey, "rkey", 0, "the other side's memory key `N`")
	f.Uint64Var(&o.remote.VA, "va", 0, "the other side's memory address `N`")
	f.BoolVarP(&o.dump, "hex", "x", false, "print the memory that the other side reached, at the end")
	return cmd
}

func (o *rawOptions) check() error {
	types := map[string]endpoint.Type{"rc": endpoint.RC, "uc": endpoint.UC, "ud": endpoint.UD}
	if o.peer.Type = types[o.typ]; o.peer.Type == 0 {
		return fmt.Errorf("--type %s: want rc, uc or ud", o.typ)
	}
	if o.mtu != 0 && !isPathMTU(o.mtu) {
		return fmt.Errorf("--mtu %d: want 256, 512, 1024, 2048 or 4096", o.mtu)
	}
	if (o.file == "") == (o.gid == "") {
		return errors.New("who is the other side? --qpn, --psn and --gid, or --remote FILE")
	}
	const most, mostReceives = 1 << 30, 1 << 10 // a receive has room for a megabyte
	if o.peer.Memory < 8 || o.peer.Memory > most || o.peer.Receives < 0 || o.peer.Receives > mostReceives {
		return fmt.Errorf("--memory and --rx-depth: want 8 bytes to 1 GiB, and 0 to %d receives", mostReceives)
	}
	return o.checkNumbers()
}

// checkNumbers refuses numbers that no packet can have, and a connection to nobody.
func (o *rawOptions) checkNumbers() error {
	const max24 = 1<<24 - 1
	for _, n := range []struct {
		flag  string
		value uint32
	}{{"own-qpn", o.peer.QPN}, {"own-psn", o.peer.PSN}, {"qpn", o.remote.QPN}, {"psn", o.remote.PSN}} {
		if n.value > max24 {
			return fmt.Errorf("--%s %#x: want a number of 24 bits", n.flag, n.value)
		}
	}
	if o.gid == "" {
		return nil
	}
	if o.remote.QPN == 0 && o.peer.Type != endpoint.UD {
		return errors.New("which queue pair does the other side have? --qpn N")
	}
	var err error
	if o.remote.GID, err = netip.ParseAddr(o.gid); err != nil {
		return fmt.Errorf("--gid %s: want an IP address", o.gid)
	}
	return nil
}

func (o *rawOptions) run(ctx context.Context, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	var steps []raw.Step
	for _, text := range args {
		step, err := raw.ParseStep(text, payload)
		if err != nil {
			return err
		}
		steps = append(steps, step)
	}
	return o.device.during(ctx, func(ctx context.Context, dev *endpoint.Device) error {
		return cause(ctx, o.talk(ctx, dev, steps))
	})
}

func (o *rawOptions) talk(ctx context.Context, dev *endpoint.Device, steps []raw.Step) error {
	out := o.device.streams.Out
	o.peer.Change = o.device.attributes(o.mtu)
	peer, err := raw.New(dev, o.peer)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(peer.Local()); err != nil {
		return err
	}
	remote, err := o.otherSide()
	if err != nil {
		return err
	}
	if err := peer.Connect(ctx, remote); err != nil {
		return err
	}
	failed := false
	for _, step := range steps {
		outcome, err := peer.Do(ctx, step)
		if err != nil {
			return err
		}
		failed = failed || !outcome.OK
		if err := o.print(outcome); err != nil {
			return err
		}
	}
	if len(steps) == 0 {
		<-ctx.Done()
	}
	if o.dump {
		if _, err := fmt.Fprint(out, hex.Dump(peer.Exposed())); err != nil {
			return err
		}
	}
	if failed {
		return errDifferent
	}
	return nil
}

// otherSide is the remote side of the flags or of --remote: the first JSON
// object there.
func (o *rawOptions) otherSide() (raw.Side, error) {
	if o.file == "" {
		return o.remote, nil
	}
	in := o.device.streams.In
	if o.file != "-" {
		file, err := os.Open(o.file)
		if err != nil {
			return raw.Side{}, err
		}
		defer file.Close()
		in = file
	}
	var side raw.Side
	if err := json.NewDecoder(bufio.NewReader(in)).Decode(&side); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return side, fmt.Errorf("--remote %s: %w", o.file, err)
	}
	return side, nil
}

func (o *rawOptions) print(r raw.Outcome) error {
	out := o.device.streams.Out
	if o.device.json {
		return json.NewEncoder(out).Encode(r)
	}
	text := fmt.Sprintf("%s: %s, %d bytes\n", r.Step, r.Status, r.Bytes)
	if len(r.Data) > 0 {
		text += hex.Dump(r.Data)
	}
	_, err := fmt.Fprint(out, text)
	return err
}
