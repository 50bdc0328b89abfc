package wire

import (
	"bytes"
	"testing"
)

func TestStackKeepsHeadersInOrder(t *testing.T) {
	var s Stack
	s.Reset(make([]byte, 40))
	s.Push(HdrEthernet, 0, 14)
	s.Push(HdrIPv4, 14, 20)
	want := []Header{{HdrEthernet, 0, 14}, {HdrIPv4, 14, 20}}
	got := s.Headers()
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("headers %v, want %v", got, want)
	}
}

func TestStackRefusesWhatItHasNoRoomFor(t *testing.T) {
	var s Stack
	for i := range MaxHeaders {
		if !s.Push(HdrMPLS, 4*i, 4) {
			t.Fatalf("header %d of %d was refused", i, MaxHeaders)
		}
	}
	if s.Push(HdrIPv4, 4*MaxHeaders, 20) {
		t.Error("a header too many was taken")
	}
	if n := len(s.Headers()); n != MaxHeaders {
		t.Errorf("%d headers, want %d", n, MaxHeaders)
	}
}

func TestBytesOfAHeaderEndWithTheCapture(t *testing.T) {
	var s Stack
	s.Reset([]byte{0, 1, 2, 3, 4, 5})
	for _, tc := range []struct {
		name   string
		header Header
		want   []byte
	}{
		{"whole", Header{Off: 2, Len: 3}, []byte{2, 3, 4}},
		{"cut", Header{Off: 4, Len: 8}, []byte{4, 5}},
		{"cut by one byte", Header{Off: 4, Len: 3}, []byte{4, 5}},
		{"beyond the end", Header{Off: 9, Len: 4}, nil},
		{"at the end", Header{Off: 6, Len: 4}, nil},
		{"empty", Header{Off: 2, Len: 0}, nil},
	} {
		if got := s.Bytes(tc.header); !bytes.Equal(got, tc.want) {
			t.Errorf("%s: %x, want %x", tc.name, got, tc.want)
		}
	}
}

func TestViewIsTheInnermostHeader(t *testing.T) {
	var s Stack
	s.Reset([]byte{0, 1, 2, 3, 4, 5})
	s.Push(HdrVLAN, 0, 2)
	s.Push(HdrMPLS, 2, 1)
	s.Push(HdrVLAN, 4, 2)
	if got := s.View(HdrVLAN); !bytes.Equal(got, []byte{4, 5}) {
		t.Errorf("view %x, want 0405", got)
	}
	if h, ok := s.Last(HdrMPLS); !ok || h != (Header{HdrMPLS, 2, 1}) {
		t.Errorf("last MPLS entry %v, %v", h, ok)
	}
	if s.View(HdrIPv4) != nil {
		t.Error("view of a header that is not there")
	}
	if _, ok := s.Last(HdrIPv4); ok {
		t.Error("found a header that is not there")
	}
}

func TestResetForgetsHeadersWithoutAllocation(t *testing.T) {
	var s Stack
	data := make([]byte, 20)
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(data)
		s.Push(HdrIPv4, 0, 20)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	s.Reset(nil)
	if len(s.Headers()) != 0 || s.View(HdrIPv4) != nil {
		t.Errorf("headers after Reset: %v", s.Headers())
	}
}
