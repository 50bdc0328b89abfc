package roceinject

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
)

// bridgeCapture writes what passes at both interfaces: a frame that goes
// through is there twice, once where it came in and once where it left.
type bridgeCapture struct {
	file capfile.Writer
}

func createCapture(name string, interfaces [2]string) (*bridgeCapture, error) {
	plain := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch filepath.Ext(plain) {
	case ".pcap", ".cap", ".dmp":
		return nil, fmt.Errorf("-w %s: a pcap file holds one interface and no comments; give it a name that ends in .pcapng", name)
	}
	describe := func(i int) capfile.Interface {
		return capfile.Interface{Name: interfaces[i], Link: wire.LinkEthernet, FCSLen: -1}
	}
	file, err := capfile.Create(name, describe(0))
	if err != nil {
		return nil, err
	}
	if _, err := file.AddInterface(describe(1)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &bridgeCapture{file}, nil
}

func (c *bridgeCapture) write(at fault.Direction, data []byte, when int64, comment string) error {
	return c.file.Write(&capfile.Record{
		Data: data, WireLen: len(data), Time: when, HasTime: true, Comment: comment,
		Interface: int32(at), Link: wire.LinkEthernet, FCSLen: -1,
	})
}

// arrived writes a frame that came in.
func (c *bridgeCapture) arrived(d fault.Direction, f *nic.Frame, comment string) error {
	return c.write(d, f.Data, f.Time, comment)
}

// left writes frames that were sent.
func (c *bridgeCapture) left(d fault.Direction, frames [][]byte, comments []string) error {
	now := time.Now().UnixNano()
	for i, f := range frames {
		if err := c.write(d.Reverse(), f, now, comments[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *bridgeCapture) close(ends [2]*bridgeEnd) error {
	for i, e := range ends {
		stats, _ := e.link.Stats() // the link is closed; the counts remain
		err := c.file.SetStatistics(i, capfile.Statistics{
			Received: capfile.Count(stats.Received + stats.Dropped), OSDropped: capfile.Count(stats.Dropped),
		})
		if err != nil {
			return errors.Join(err, c.file.Close())
		}
	}
	return c.file.Close()
}
