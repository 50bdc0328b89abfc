package roceinject

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/transport/qp"
)

// decisions is what --policy changes.
type decisions struct {
	policy endpoint.Policy
	icrc   endpoint.ICRC
}

// decision is one name that --policy knows.
type decision struct {
	name   string
	values string // "" for one that is turned on by its name alone
	does   string
	set    func(d *decisions, value string) error
}

// policyTable is every decision, in the order of help.
func policyTable() []decision {
	return []decision{
		{name: "rxe", does: "decide all as Linux's soft RoCE does; later ones change that", set: func(d *decisions, value string) error {
			if value != "" {
				return errors.New("it has no value")
			}
			d.policy, d.icrc = endpoint.RxePolicy(), endpoint.RxeFlushICRC
			return nil
		}},
		flag("silent-duplicates", "leave duplicate SENDs and WRITEs unanswered unless they ask", func(d *decisions) *bool { return &d.policy.SilentDuplicates }),
		choice("replay", "answer a duplicate READ so", func(d *decisions, v qp.Replay) { d.policy.Replay = v },
			[]string{"memory", "refuse", "altered"}),
		flag("strict-replay", "answer a duplicate READ only if it ends where the first did", func(d *decisions) *bool { return &d.policy.StrictReplay }),
		flag("recycle-depth", "let a READ beyond the agreed depth replace the oldest", func(d *decisions) *bool { return &d.policy.RecycleDepth }),
		flag("credits", "advertise how many receives are posted", func(d *decisions) *bool { return &d.policy.Credits }),
		flag("clear-migreq", "send packets with MigReq 0", func(d *decisions) *bool { return &d.policy.ClearMigReq }),
		flag("default-pkey", "send responses with P_Key 0xFFFF", func(d *decisions) *bool { return &d.policy.DefaultPKey }),
		flag("repeat-nak", "send a NAK for every packet behind a gap", func(d *decisions) *bool { return &d.policy.RepeatNak }),
		flag("ignore-unknown", "drop operations that the service does not have", func(d *decisions) *bool { return &d.policy.IgnoreUnknown }),
		flag("long-send-operational", "answer a SEND longer than the receive with a remote operational error", func(d *decisions) *bool { return &d.policy.LongSendOperational }),
		flag("nak-invalidate", "answer a SEND with invalidate of a bad key with a NAK", func(d *decisions) *bool { return &d.policy.NakInvalidate }),
		flag("extra-ack", "acknowledge earlier requests before a READ or atomic response", func(d *decisions) *bool { return &d.policy.ExtraAck }),
		flag("echo-congestion", "set BECN in acknowledgements of packets with FECN", func(d *decisions) *bool { return &d.policy.EchoCongestion }),
		amount("ack-every", "ask for an acknowledgement after N packets of a message", func(d *decisions) *int { return &d.policy.AckEvery }),
		amount("max-unacked", "have at most N packets under way", func(d *decisions) *int { return &d.policy.MaxUnacked }),
		flag("honour-credits", "hold SENDs back that the peer has no receive for", func(d *decisions) *bool { return &d.policy.HonourCredits }),
		flag("infinite-retry-7", "take 7 retries for retries without end", func(d *decisions) *bool { return &d.policy.InfiniteRetry7 }),
		flag("accept-ghost-ack", "let an ACK of what was not sent complete what was", func(d *decisions) *bool { return &d.policy.AcceptGhostAck }),
		flag("fatal-reserved", "take a NAK of a reserved code for a remote operation error", func(d *decisions) *bool { return &d.policy.FatalReserved }),
		choice("read-gap", "after a gap in READ responses", func(d *decisions, v qp.ReadGap) { d.policy.ReadGap = v },
			[]string{"restart", "wait"}),
		choice("icrc", "send and accept ICRCs so", func(d *decisions, v endpoint.ICRC) { d.icrc = v },
			[]string{"strict", "rxe-flush", "any"}),
	}
}

func flag(name, does string, field func(*decisions) *bool) decision {
	return decision{name: name, does: does, set: func(d *decisions, value string) (err error) {
		*field(d) = true
		if value != "" {
			if *field(d), err = strconv.ParseBool(value); err != nil {
				err = errors.New("want true or false, or no value")
			}
		}
		return err
	}}
}

func amount(name, does string, field func(*decisions) *int) decision {
	return decision{name: name, values: "N", does: does, set: func(d *decisions, value string) error {
		n, err := strconv.ParseUint(value, 0, 31)
		if err != nil {
			err = errors.New("want a number, as in " + name + "=4")
		}
		*field(d) = int(n)
		return err
	}}
}

// choice has a value for each of the constants that begin with 0.
func choice[T ~uint8](name, does string, set func(*decisions, T), values []string) decision {
	all := strings.Join(values, "|")
	return decision{name: name, values: all, does: does, set: func(d *decisions, value string) error {
		i := slices.Index(values, value)
		if i < 0 {
			return fmt.Errorf("want %s", all)
		}
		set(d, T(i))
		return nil
	}}
}

// parsePolicies reads the values of --policy.
func parsePolicies(texts []string) (endpoint.Policy, endpoint.ICRC, error) {
	table := policyTable()
	var d decisions
	for _, text := range texts {
		if text == "help" {
			return d.policy, d.icrc, fmt.Errorf("--policy knows\n%s", policyHelp(table))
		}
		name, value, _ := strings.Cut(text, "=")
		i := slices.IndexFunc(table, func(e decision) bool { return e.name == name })
		if i < 0 {
			return d.policy, d.icrc, fmt.Errorf("--policy %s: there is no such decision; --policy help lists them", text)
		}
		if err := table[i].set(&d, value); err != nil {
			return d.policy, d.icrc, fmt.Errorf("--policy %s: %w", text, err)
		}
	}
	return d.policy, d.icrc, nil
}

func policyHelp(table []decision) string {
	var b strings.Builder
	for _, e := range table {
		name := e.name
		if e.values != "" {
			name += "=" + e.values
		}
		fmt.Fprintf(&b, "  %-32s %s\n", name, e.does)
	}
	return strings.TrimRight(b.String(), "\n")
}
