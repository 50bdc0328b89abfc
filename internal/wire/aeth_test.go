package wire

import (
	"testing"
	"time"
)

func TestAETHAccessors(t *testing.T) {
	checkAccessors(t, &aethSpec, AETHLen, nil, []accessor{
		accNum("infiniband.aeth.syndrome", AETH.Syndrome, AETH.SetSyndrome),
		accNum("infiniband.aeth.msn", AETH.MSN, AETH.SetMSN),
	}, "infiniband.aeth.syndrome.reserved", "infiniband.aeth.syndrome.opcode", "infiniband.aeth.syndrome.credit_count",
		"infiniband.aeth.syndrome.timer", "infiniband.aeth.syndrome.reserved_value", "infiniband.aeth.syndrome.error_code")
}

func TestAETHFieldsAsTshark(t *testing.T) {
	const (
		credit, timer   = "infiniband.aeth.syndrome.credit_count", "infiniband.aeth.syndrome.timer"
		reserved, error = "infiniband.aeth.syndrome.reserved_value", "infiniband.aeth.syndrome.error_code"
	)
	for _, tc := range []struct {
		header       string
		bit7, opcode uint64
		field        string
		value        uint64
		absent       []string
	}{
		{"1ffedcba", 0, 0, credit, 31, []string{timer, reserved, error}},
		{"aefedcba", 1, 1, timer, 14, []string{credit, reserved, error}},
		{"c5fedcba", 1, 2, reserved, 5, []string{credit, timer, error}},
		{"e2fedcba", 1, 3, error, 2, []string{credit, timer, reserved}},
		{"66fedcba", 0, 3, error, 6, []string{credit, timer, reserved}},
	} {
		checkFields(t, &aethSpec, tc.header, map[string]uint64{
			"infiniband.aeth.syndrome": uint64(unhex(t, tc.header)[0]), "infiniband.aeth.syndrome.reserved": tc.bit7,
			"infiniband.aeth.syndrome.opcode": tc.opcode, tc.field: tc.value, "infiniband.aeth.msn": 16702650,
		}, tc.absent...)
	}
}

// The credit table of the Linux kernel, drivers/infiniband/sw/rdmavt/rc.c.
func TestCreditsOfEveryCode(t *testing.T) {
	for code, want := range []int{
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
		2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
	} {
		if n, ok := Syndrome(code).Credits(); n != want || !ok {
			t.Errorf("code %d: %d credits, %v, want %d", code, n, ok, want)
		}
	}
	for _, s := range []Syndrome{CreditsInvalid, 0x25, 0x45, 0x65} {
		if n, ok := s.Credits(); n != 0 || ok {
			t.Errorf("syndrome %#02x: %d credits, %v, want none", s, n, ok)
		}
	}
}

// The waits of the kernel's include/rdma/ib_verbs.h, in microseconds.
func TestRNRTimerOfEveryCode(t *testing.T) {
	for code, want := range []time.Duration{
		655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120,
		7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
	} {
		if got := Syndrome(0x20 | code).RNRTimer(); got != want*time.Microsecond {
			t.Errorf("code %d: %v, want %v", code, got, want*time.Microsecond)
		}
	}
}

func TestEverySyndromeIsDefinedOrNot(t *testing.T) {
	for v := range 256 {
		s := Syndrome(v)
		var want bool
		switch v >> 5 {
		case 0, 1: // ACK and RNR NAK
			want = true
		case 3: // NAK
			want = v&31 < 5
		}
		if s.Defined() != want {
			t.Errorf("syndrome %#02x: defined %v, want %v", v, s.Defined(), want)
		}
		if kind := []AckKind{Ack, RNRNak, AckReserved, Nak}[v>>5&3]; s.Kind() != kind || int(s.Code()) != v&31 {
			t.Errorf("syndrome %#02x: kind %d, code %d", v, s.Kind(), s.Code())
		}
	}
}

func TestNakNames(t *testing.T) {
	for code, want := range []string{
		"PSN Sequence Error", "Invalid Request", "Remote Access Error", "Remote Operational Error", "Invalid RD Request", "", "",
	} {
		if got := NakName(uint8(code)); got != want {
			t.Errorf("NAK code %d is called %q, want %q", code, got, want)
		}
		if got := nakName(uint64(code)); got != want {
			t.Errorf("the field calls NAK code %d %q, want %q", code, got, want)
		}
	}
}

func TestSyndromeFieldNames(t *testing.T) {
	for _, tc := range []struct {
		names func(uint64) string
		value uint64
		want  string
	}{
		{ackKindName, 0, "Ack"},
		{ackKindName, 1, "RNR Nak"},
		{ackKindName, 2, "Reserved"},
		{ackKindName, 3, "Nak"},
		{creditName, 5, "6 credits"},
		{creditName, 31, "no limit"},
		{rnrTimerName, 14, "1.28 ms"},
		{rnrTimerName, 0, "655.36 ms"},
		{rnrTimerName, 1, "0.01 ms"},
	} {
		if got := tc.names(tc.value); got != tc.want {
			t.Errorf("name of %d = %q, want %q", tc.value, got, tc.want)
		}
	}
}
