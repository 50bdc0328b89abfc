// Package captest shows tests the records of captures.
package captest

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
)

// Each calls do with every record of every capture that testneed.Captures finds,
// but for those in hexadecimal; number is its place in the file, from 1.
func Each(t testing.TB, do func(file string, number int, rec *capfile.Record)) {
	t.Helper()
	for _, path := range testneed.Captures(t) {
		if filepath.Ext(path) != ".hex" {
			each(t, path, do)
		}
	}
}

// Records returns every record of a capture.
func Records(t testing.TB, path string) (list []capfile.Record) {
	t.Helper()
	each(t, path, func(_ string, _ int, rec *capfile.Record) {
		own := *rec
		own.Data = bytes.Clone(rec.Data)
		list = append(list, own)
	})
	return list
}

func each(t testing.TB, path string, do func(file string, number int, rec *capfile.Record)) {
	t.Helper()
	r, err := capfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	number := 1
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Records {
			do(filepath.Base(path), number, &batch.Records[i])
			number++
		}
		batch.Release()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
