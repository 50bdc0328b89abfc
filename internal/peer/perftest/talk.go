package perftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Port is the TCP port that servers listen on.
const Port = 18515

// Version is the one that is told, oldestVersion the oldest that speaks like it.
const (
	Version       = "6.24"
	oldestVersion = 5.70
	versionLen    = 16
)

// Settings are what both sides have to agree on before the test.
type Settings struct {
	// CycleBuffer is how much memory messages that are small go round in,
	// CacheLine what they are a multiple of apart. The larger one counts.
	CycleBuffer, CacheLine uint32
	MTU                    int // path MTU in bytes; the smaller one counts
}

// Talk is the connection to the other side, over TCP or a Control. All of its exchanges are alike: the
// client tells, then the server; so no two pieces are ever under way, and each
// is one read for a peer that reads without loop.
type Talk struct {
	Conn   io.ReadWriter
	Client bool
	// RemoteVersion is known after Agree.
	RemoteVersion string
}

// swap gives mine for as many bytes of the other side's.
func (t *Talk) swap(what string, mine, theirs []byte) error {
	steps := []func() error{
		func() error { _, err := t.Conn.Write(mine); return err },
		func() error { _, err := io.ReadFull(t.Conn, theirs); return err },
	}
	if !t.Client {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("exchange of %s with the peer: %w", what, err)
		}
	}
	return nil
}

func (t *Talk) swapNumber(what string, mine uint32) (theirs uint32, err error) {
	var b [4]byte
	err = t.swap(what, binary.BigEndian.AppendUint32(nil, mine), b[:])
	return binary.BigEndian.Uint32(b[:]), err
}

func (t *Talk) swapQuad(what string, mine uint64) (theirs uint64, err error) {
	var b [8]byte
	err = t.swap(what, binary.BigEndian.AppendUint64(nil, mine), b[:])
	return binary.BigEndian.Uint64(b[:]), err
}

func (t *Talk) swapFloat(what string, mine float64) (theirs float64, err error) {
	bits, err := t.swapQuad(what, math.Float64bits(mine))
	return math.Float64frombits(bits), err
}

// Agree begins the talk.
func (t *Talk) Agree(mine Settings) (Settings, error) {
	if err := t.swapVersions(); err != nil {
		return mine, err
	}
	cycle, err := t.swapNumber("cycle buffer size", mine.CycleBuffer)
	if err != nil {
		return mine, err
	}
	line, err := t.swapNumber("cache line size", mine.CacheLine)
	if err != nil {
		return mine, err
	}
	mtu, err := t.swapMTU(mine.MTU)
	return Settings{
		CycleBuffer: max(cycle, mine.CycleBuffer), CacheLine: max(line, mine.CacheLine), MTU: min(mtu, mine.MTU),
	}, err
}

func (t *Talk) swapVersions() error {
	var theirs [versionLen]byte
	if err := t.swap("versions", append([]byte(Version), make([]byte, versionLen-len(Version))...), theirs[:]); err != nil {
		return err
	}
	t.RemoteVersion = string(bytes.TrimRight(theirs[:], "\x00"))
	number, err := strconv.ParseFloat(t.RemoteVersion, 64)
	if err != nil || number < oldestVersion {
		return fmt.Errorf("the peer says it is perftest %q: want %.2f or later", t.RemoteVersion, oldestVersion)
	}
	return nil
}

// swapMTU tells the path MTU as verbs' code, 1 for 256 to 5 for 4096, in one
// digit and a zero byte.
func (t *Talk) swapMTU(mine int) (theirs int, err error) {
	code := 0
	for c := 1; c <= 5; c++ {
		if 128<<c == mine {
			code = c
		}
	}
	if code == 0 {
		return 0, fmt.Errorf("path MTU %d: want 256, 512, 1024, 2048 or 4096", mine)
	}
	var b [2]byte
	if err := t.swap("MTU", []byte{byte('0' + code), 0}, b[:]); err != nil {
		return 0, err
	}
	if b[0] < '1' || b[0] > '5' {
		return mine, nil // what the original does with a code it does not know
	}
	return 128 << (b[0] - '0'), nil
}

// Exchange tells of each of this side's queue pairs and hears of as many.
func (t *Talk) Exchange(mine []Destination) (theirs []Destination, err error) {
	form, parse, length := Destination.Append, ParseDestination, DestinationLen
	if _, cm := t.Conn.(*Control); cm {
		form, parse, length = Destination.AppendBinary, ParseBinary, BinaryLen
	}
	told := make([]byte, length)
	for _, d := range mine {
		if err := t.swap("addresses", form(d, nil), told); err != nil {
			return nil, err
		}
		remote, err := parse(told)
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, remote)
	}
	return theirs, nil
}

// Sync waits until the other side is there too. It is another exchange of the
// first addresses.
func (t *Talk) Sync(mine Destination) error {
	_, err := t.Exchange([]Destination{mine})
	return err
}
