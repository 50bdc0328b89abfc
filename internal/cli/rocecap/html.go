package rocecap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/page"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// mayWriteHTML reports why a page cannot be written: it is about one capture, and
// must not take that one's place.
func mayWriteHTML(out string, files []string) error {
	if len(files) != 1 {
		return errors.New("--html: want one capture")
	}
	if _, err := newSink(out, files); err != nil {
		return fmt.Errorf("--html %s: the file is the input too", out)
	}
	// The page takes the place of what is there, which a device would not survive.
	if info, err := os.Stat(out); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--html %s: not a regular file", out)
	}
	return nil
}

// newPage is the page of a report, which is told what a tracker follows.
func newPage(r *analysis.Report, t *survey.Tracker) *page.Page {
	l := page.NewCollector(page.DefaultLimits())
	c := t.Conversations
	report, united, message, closed := c.Report, c.United, c.Message, c.Closed
	c.Placed, t.Pauses.Over = l.Placed, l.Pause
	c.Report = func(of *conversation.Conversation, end int, e conversation.Event) {
		l.Report(of, end, e)
		if report != nil {
			report(of, end, e)
		}
	}
	c.United = func(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
		l.United(kept, end, gone)
		if united != nil {
			united(kept, end, gone)
		}
	}
	c.Message = func(of *conversation.Conversation, end int, m *conversation.Message) {
		l.Message(of, end, m)
		if message != nil {
			message(of, end, m)
		}
	}
	c.Closed = func(of *conversation.Conversation) {
		closed(of)
		if r.Chosen(of) {
			l.Closed(of)
		} else {
			l.Drop(of)
		}
	}
	return &page.Page{Report: r, Collector: l}
}

// writeHTML writes a page beside its place first, so that whoever has the old one
// open never sees half of the new one.
func writeHTML(name string, p *page.Page) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("--html %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("--html %s: %w", name, err)
		}
	}()
	if err = errors.Join(p.Write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
