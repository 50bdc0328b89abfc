package capfile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/testneed"
)

// unhex turns hexadecimal digits into bytes; spaces and line ends are ignored,
// and so is everything from a # to the end of its line.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			digits.WriteString(word)
		}
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("bad hex in the test: %v", err)
	}
	return b
}

// readAll reads what is left of r; the records own their data.
func readAll(r *Reader) ([]Record, error) {
	var all []Record
	for {
		b, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		for _, rec := range b.Records {
			rec.Data = bytes.Clone(rec.Data)
			all = append(all, rec)
		}
		b.Release()
	}
}

// parse reads a whole capture from memory.
func parse(data []byte) ([]Record, error) { return parseFrom(bytes.NewReader(data), blockSize) }

func parseFrom(in io.Reader, block int) ([]Record, error) {
	r, err := newReader(source{size: -1}, in, "test", block)
	if err != nil {
		return nil, err
	}
	all, err := readAll(r)
	return all, errors.Join(err, r.Close())
}

// mustParse reads a whole good capture and returns its reader too.
func mustParse(t testing.TB, data []byte) (*Reader, []Record) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), "test")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, all
}

// wantFault checks that err is a FormatError of the class with this text.
func wantFault(t testing.TB, err, class error, text string) {
	t.Helper()
	var fault *FormatError
	if !errors.As(err, &fault) {
		t.Fatalf("error is %v, want a FormatError %q", err, text)
	}
	if fault.Error() != text {
		t.Errorf("error reads\n\t%s\nwant\n\t%s", fault.Error(), text)
	}
	if !errors.Is(err, class) {
		t.Errorf("%v is not %v", err, class)
	}
}

// captures lists the captures at hand that Open can read.
func captures(t testing.TB) []string {
	t.Helper()
	return slices.DeleteFunc(testneed.Captures(t), func(path string) bool {
		return filepath.Ext(path) == ".hex" // lines of text
	})
}
