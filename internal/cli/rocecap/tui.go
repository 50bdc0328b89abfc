package rocecap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// fullScreen reports whether there is a terminal that is to be used as a whole.
func (o *liveOptions) fullScreen() bool {
	return o.streams.OutTTY && !o.streams.Dumb && !o.json && !o.plain
}

// screen shows a feed on the full screen, until the user ends it. A capture that
// was played stays; when interfaces fail it ends. The terminal is put back into
// its state before anything is told.
func (v *viewer) screen(ctx context.Context) error {
	v.monitor.backlog = &backlog{span: v.options.keep, limit: v.options.memory << 20}
	v.watch.coloured = v.options.streams.Coloured()
	hooks := live.Hooks{Filter: v.setFilter, Write: v.write, Detail: v.detail, Leave: v.leave}
	model := live.NewModel(v.source(), v.options.filter, v.watch.coloured, hooks)
	p := tea.NewProgram(model, v.terminal(ctx)...)
	v.say = func(text string) { p.Send(live.NoteMsg(text)) }

	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- v.feedScreen(ctx, p) }()
	_, err := p.Run()
	stop()
	fault := <-ended
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil // a signal, or --duration
	}
	return errors.Join(fault, err)
}

// terminal says how the terminal is used.
func (v *viewer) terminal(ctx context.Context) []tea.ProgramOption {
	s := v.options.streams
	list := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithOutput(s.Out), tea.WithAltScreen(), tea.WithMouseCellMotion(),
		tea.WithoutSignalHandler(), // the context ends with signals
	}
	if s.In != os.Stdin { // else the terminal is opened when that is something else
		list = append(list, tea.WithInput(s.In))
	}
	return list
}

// feedScreen gives the screen what the feed has, and ends it by a fault.
func (v *viewer) feedScreen(ctx context.Context, p *tea.Program) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("live: %v\n%s", r, debug.Stack())
			p.Quit()
		}
	}()
	err = v.follow(ctx, func(s *live.Snapshot) error {
		p.Send(live.SnapshotMsg{Snapshot: s})
		return nil
	})
	if _, file := v.from.(*fileFeed); !file {
		p.Quit()
		return err
	}
	p.Send(live.EndMsg{Err: err})
	return err
}

// source says where the packets are from.
func (v *viewer) source() string {
	if v.options.read != "" {
		return filepath.Base(v.options.read)
	}
	return strings.Join(v.options.capture.interfaces, ", ")
}

// interval is how long an interval is in the time of the feed: on the screen it
// goes by at the user's pace, however fast a capture is played.
func (v *viewer) interval() time.Duration {
	d := v.options.interval
	if f, ok := v.from.(*fileFeed); ok && f.speed > 0 && v.options.fullScreen() {
		return max(time.Microsecond, time.Duration(float64(d)*f.speed))
	}
	return d
}

func (v *viewer) setFilter(text string) error {
	if text == "" {
		v.monitor.follow(nil)
		return nil
	}
	f, err := filter.Compile(text)
	if err == nil {
		v.monitor.follow(f)
	}
	return err
}

// write writes the packets of the last while that match the filter to a file that is
// not there yet.
func (v *viewer) write(name string) (packets int, err error) {
	if _, err := os.Lstat(name); err == nil {
		return 0, fmt.Errorf("%s: there is such a file already", name)
	}
	var parts [][]capfile.Record
	var since int64
	var number int
	var chosen *matcher
	v.monitor.look(func(*survey.Tracker) {
		m := v.monitor
		parts, since, number, chosen = m.backlog.lend(), m.now-int64(v.options.keep), m.number+1, m.filter.again()
	})
	for _, part := range parts {
		number -= len(part)
	}
	out := &sink{name: name}
	var p packet.Packet
	for _, part := range parts {
		records := make([]*capfile.Record, 0, len(part))
		for i := range part {
			records = append(records, &part[i])
		}
		records = chosen.choose(records, number, &p)
		number += len(part)
		records = slices.DeleteFunc(records, func(rec *capfile.Record) bool { return rec.Time < since })
		if err := out.write(v, records); err != nil {
			return packets, errors.Join(err, out.close())
		}
		packets += len(records)
	}
	return packets, out.close()
}

// Interfaces are those of the packets that have come so far.
func (v *viewer) Interfaces() (list []capfile.Interface) {
	v.monitor.look(func(*survey.Tracker) { list = v.interfaces })
	return list
}

// learn notes the interfaces of the packets that come next.
func (v *viewer) learn() {
	var list []capfile.Interface
	switch f := v.from.(type) {
	case *fileFeed:
		list = f.reader.Interfaces()
	case *liveFeed:
		if len(v.interfaces) == 0 {
			list = f.captures.describe()
		}
	}
	if len(list) > len(v.interfaces) {
		v.monitor.look(func(*survey.Tracker) { v.interfaces = slices.Clone(list) })
	}
}
