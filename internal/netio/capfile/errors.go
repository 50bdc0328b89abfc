package capfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// The classes of fault that a FormatError belongs to; use errors.Is.
var (
	// ErrTruncated says that the file ends inside a record or header.
	ErrTruncated = errors.New("capture file is cut short")
	// ErrFormat says that the file breaks the rules of its format.
	ErrFormat = errors.New("capture file is damaged or of unknown format")
	// ErrRead says that the operating system could not read the file.
	ErrRead = errors.New("capture file cannot be read")
)

// FormatError says where reading a capture file had to end, and why. Every
// record before that place has been delivered.
type FormatError struct {
	File   string
	Record int64 // number of the record that could not be read, from 1
	Offset int64 // where the faulty record or block begins, after decompression
	Reason string
	Class  error // ErrTruncated, ErrFormat or ErrRead
	Cause  error // what the decompressor or the system said, nil when neither did
}

var _ error = (*FormatError)(nil)

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: record %d at byte %d: %s", e.File, e.Record, e.Offset, e.Reason)
}

// Unwrap gives the class and the cause of the fault.
func (e *FormatError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.Cause}
}

// fault is a FormatError before the reader adds the file and record number.
type fault struct {
	class  error
	offset int64
	reason string
	cause  error
}

func damaged(offset int64, format string, args ...any) *fault {
	return &fault{class: ErrFormat, offset: offset, reason: fmt.Sprintf(format, args...)}
}

func truncated(offset int64, format string, args ...any) *fault {
	return &fault{class: ErrTruncated, offset: offset, reason: fmt.Sprintf(format, args...)}
}

// sourceFault describes an error of the source: of the file itself, or of the
// decompressor named by codec.
func sourceFault(codec string, offset int64, err error) *fault {
	f := &fault{class: ErrRead, offset: offset, cause: err}
	var path *fs.PathError
	switch {
	case errors.As(err, &path): // the file's name is already in the message
		f.reason = path.Op + ": " + path.Err.Error()
	case codec == "":
		f.reason = err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.class = ErrTruncated
		f.reason = "the " + codec + " stream is cut short"
	default:
		f.class = ErrFormat
		f.reason = "the " + codec + " stream is damaged: " + err.Error()
	}
	return f
}
