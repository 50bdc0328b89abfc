package nic

import (
	"errors"
	"math"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// rejectAll is the filter that passes nothing.
var rejectAll = []bpf.RawInstruction{{Op: unix.BPF_RET | unix.BPF_K}}

// attach gives a socket its filter, in place of the one before.
func attach(fd int, filter []bpf.RawInstruction) error {
	code := make([]unix.SockFilter, len(filter))
	for i, in := range filter {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	if errors.Is(err, unix.EINVAL) {
		return errors.New("the kernel refuses the filter program")
	}
	return err
}

// shortened is a filter that keeps no more than snapLen bytes of a frame. A tag
// that is put back makes a frame longer.
func shortened(filter []bpf.RawInstruction, snapLen int) []bpf.RawInstruction {
	out := make([]bpf.RawInstruction, len(filter))
	for i, in := range filter {
		if in.Op == unix.BPF_RET|unix.BPF_K {
			in.K = uint32(min(int64(in.K), int64(snapLen), math.MaxInt32))
		}
		out[i] = in
	}
	return out
}

// wholeFrames passes everything. Not all of the kernel takes lengths above
// MaxInt32.
var wholeFrames = []bpf.RawInstruction{{Op: unix.BPF_RET | unix.BPF_K, K: math.MaxInt32}}
