package rocecap

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/analysis"
)

// mayAnnotate reports why a capture cannot be annotated: it is read twice, and
// only a pcapng file has comments.
func mayAnnotate(out string, files []string) error {
	plain := strings.TrimSuffix(strings.TrimSuffix(out, ".gz"), ".zst")
	switch {
	case len(files) != 1:
		return errors.New("--annotate: want one capture")
	case files[0] == "-":
		return errors.New("--annotate: the standard input cannot be read twice; name a file")
	case !strings.HasSuffix(plain, ".pcapng"):
		return fmt.Errorf("--annotate %s: want a name that ends with .pcapng: other files have no comments", out)
	}
	return nil
}

// write writes the packets of a capture once more, with what was found in them.
// damaged says that it has a fault, which was told.
func (p *analyzePlan) write(streams Streams, name string, damaged bool) error {
	out, err := newSink(p.annotate, []string{name})
	if err != nil {
		return errors.New(strings.Replace(err.Error(), "-w ", "--annotate ", 1))
	}
	reader, err := capfile.Open(name)
	if err != nil {
		return err
	}
	defer reader.Close()
	if n := p.events.Dropped; n > 0 {
		fmt.Fprintf(streams.Err, "rocecap: --annotate: the last %d findings have no comment\n", n)
	}
	err = annotate(out, reader, p.events)
	if damaged && errors.As(err, new(*readError)) {
		err = nil
	}
	return errors.Join(err, out.close())
}

// readError is a fault of the capture, and not of what is written.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

func annotate(out *sink, reader *capfile.Reader, events *analysis.Events) error {
	for number := 1; ; {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &readError{err}
		}
		records := make([]*capfile.Record, len(batch.Records))
		for i := range batch.Records {
			rec := batch.Records[i]
			rec.Comment = comments(rec.Comment, events, number)
			records[i] = &rec
			number++
		}
		err = out.write(reader, records)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// comments adds what was found in a packet to the comments that it has.
func comments(text string, events *analysis.Events, number int) string {
	for _, line := range events.Comments(number) {
		if text != "" {
			text += "\n"
		}
		text += line
	}
	return text
}
