package capfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Rotation says when a capture goes on in another file. What is zero does not
// matter.
type Rotation struct {
	Bytes   int64         // when a file has so many
	Every   time.Duration // when a file's first packet is so long ago
	Packets int           // when a file has so many
	Files   int           // the oldest file is removed when there are more
}

// rotates reports whether there is ever more than one file.
func (r *Rotation) rotates() bool { return r.Bytes > 0 || r.Every > 0 || r.Packets > 0 }

// Ring writes a capture to one file after another. Each is complete: it
// describes the interfaces, and ends with their counters.
type Ring struct {
	name     string
	rotation Rotation

	interfaces []Interface
	statistics []Statistics
	writer     Writer
	number     int
	packets    int
	begun      int64    // time of the file's first packet
	files      []string // that are there
}

var _ Writer = (*Ring)(nil)

// NewRing begins a capture in files of a name, to which, when there may be
// several, each adds its number and the time of its first packet.
func NewRing(name string, rotation Rotation) (*Ring, error) {
	if rotation.rotates() && name == "-" {
		return nil, errors.New("the standard output cannot be several files")
	}
	return &Ring{name: name, rotation: rotation}, nil
}

// Open creates the first file before there is a packet, so that what is wrong with
// its name is told at once. Where files are numbered, which have the time of a packet
// in their names, it looks for their folder. It comes behind AddInterface.
func (r *Ring) Open() error {
	if !r.rotation.rotates() {
		return r.begin(time.Now().UnixNano())
	}
	dir := filepath.Dir(r.name)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	return err
}

// Files are those that there are, the oldest first.
func (r *Ring) Files() []string { return r.files }

// AddInterface describes an interface in every file to come; there is none yet.
func (r *Ring) AddInterface(i Interface) (int, error) {
	if r.writer != nil {
		return 0, errors.New("an interface is described before the first packet")
	}
	r.interfaces = append(r.interfaces, i)
	r.statistics = append(r.statistics, Statistics{})
	return len(r.interfaces) - 1, nil
}

// Write writes one record, into another file when it is time.
func (r *Ring) Write(rec *Record) error {
	if r.writer != nil && r.full(rec) {
		if err := r.finish(); err != nil {
			return err
		}
	}
	if r.writer == nil {
		if err := r.begin(rec.Time); err != nil {
			return err
		}
	}
	r.packets++
	return r.writer.Write(rec)
}

func (r *Ring) full(rec *Record) bool {
	x := &r.rotation
	return x.Bytes > 0 && r.writer.Size() >= x.Bytes ||
		x.Every > 0 && rec.Time-r.begun >= int64(x.Every) ||
		x.Packets > 0 && r.packets >= x.Packets
}

// begin creates the next file, and removes the oldest when there are too many.
func (r *Ring) begin(now int64) error {
	r.number++
	name := r.name
	if r.rotation.rotates() {
		name = numbered(r.name, r.number, time.Unix(0, now))
	}
	w, err := Create(name, r.interfaces[0])
	if err != nil {
		return err
	}
	r.writer, r.packets, r.begun = w, 0, now
	r.files = append(r.files, name)
	for _, i := range r.interfaces[1:] {
		if _, err := w.AddInterface(i); err != nil {
			return err
		}
	}
	// From its begin the file is one that can be read.
	if err := w.Flush(); err != nil {
		return err
	}
	if keep := r.rotation.Files; keep > 0 && len(r.files) > keep {
		oldest := r.files[0]
		r.files = r.files[1:]
		if err := os.Remove(oldest); !errors.Is(err, fs.ErrNotExist) { // somebody may have moved it away
			return err
		}
	}
	return nil
}

// numbered puts a number and a time before the extension of a name, of which that of
// a compression is a part.
func numbered(name string, number int, at time.Time) string {
	ext := filepath.Ext(name)
	if low := strings.ToLower(ext); low == ".gz" || low == ".zst" {
		ext = filepath.Ext(strings.TrimSuffix(name, ext)) + ext
	}
	return fmt.Sprintf("%s_%05d_%s%s", strings.TrimSuffix(name, ext), number, at.Format("20060102150405"), ext)
}

// finish completes the file.
func (r *Ring) finish() error {
	var errs []error
	for i, s := range r.statistics {
		errs = append(errs, r.writer.SetStatistics(i, s))
	}
	errs = append(errs, r.writer.Close())
	r.writer = nil
	return errors.Join(errs...)
}

// SetStatistics gives the counters of an interface, for the end of each file
// from this one on.
func (r *Ring) SetStatistics(index int, s Statistics) error {
	if index < 0 || index >= len(r.statistics) {
		return &IndexError{Index: index, Count: len(r.statistics)}
	}
	r.statistics[index] = s
	return nil
}

// Size is how many bytes the file that is being written has.
func (r *Ring) Size() int64 {
	if r.writer == nil {
		return 0
	}
	return r.writer.Size()
}

// Flush hands on what has been buffered.
func (r *Ring) Flush() error {
	if r.writer == nil {
		return nil
	}
	return r.writer.Flush()
}

// Close completes the last file; when nothing came it is an empty one.
func (r *Ring) Close() error {
	if r.writer == nil && r.number == 0 {
		if err := r.begin(time.Now().UnixNano()); err != nil {
			return err
		}
	}
	if r.writer == nil {
		return nil
	}
	return r.finish()
}
