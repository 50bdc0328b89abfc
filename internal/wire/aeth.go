package wire

import (
	"fmt"
	"strconv"
	"time"
)

// AETHLen is the length of an ACK Extended Transport Header.
const AETHLen = 4

// AETH is an ACK Extended Transport Header (IBTA vol. 1, 9.3.5).
//
//	+---------------+-----------------------------------------------+
//	|   Syndrome    |                      MSN                      |
//	+---------------+-----------------------------------------------+
type AETH []byte

// Syndrome is the first byte of an AETH: what is acknowledged, and how.
type Syndrome uint8

// AckKind is the meaning of bits 6-5 of a syndrome (IBTA 9.7.5.1.1).
type AckKind uint8

// The kinds of acknowledgement.
const (
	Ack         AckKind = 0
	RNRNak      AckKind = 1
	AckReserved AckKind = 2
	Nak         AckKind = 3
)

// The NAK codes (IBTA table 46).
const (
	NakPSNSequence      = 0
	NakInvalidRequest   = 1
	NakRemoteAccess     = 2
	NakRemoteOperation  = 3
	NakInvalidRDRequest = 4
)

// CreditsInvalid is the credit code that advertises no limit.
const CreditsInvalid = 31

// Syndrome is the acknowledgement's code.
func (h AETH) Syndrome() Syndrome { return Syndrome(h[0]) }

// SetSyndrome sets the acknowledgement's code.
func (h AETH) SetSyndrome(s Syndrome) { h[0] = byte(s) }

// MSN is the number of messages that the responder has completed, modulo 2^24.
func (h AETH) MSN() uint32 { return uint24(h[1:]) }

// SetMSN sets the message sequence number.
func (h AETH) SetMSN(v uint32) { putUint24(h[1:], v) }

// NewSyndrome makes a syndrome from its kind and its 5-bit code.
func NewSyndrome(kind AckKind, code uint8) Syndrome {
	return Syndrome(uint8(kind&3)<<5 | code&0x1F)
}

// Kind says whether the syndrome is an ACK, an RNR NAK or a NAK.
func (s Syndrome) Kind() AckKind { return AckKind(s >> 5 & 3) }

// Code is the low five bits: credit count, timer or NAK code.
func (s Syndrome) Code() uint8 { return uint8(s) & 0x1F }

// Defined reports whether the syndrome's value has a meaning.
func (s Syndrome) Defined() bool {
	if s&0x80 != 0 || s.Kind() == AckReserved {
		return false
	}
	return s.Kind() != Nak || s.Code() <= NakInvalidRDRequest
}

// Credits returns the number of receive credits of an ACK; ok is false when
// none are advertised (IBTA table 45: 1, 2, 3 and then steps of 1.5 and 1.33).
func (s Syndrome) Credits() (n int, ok bool) {
	if s.Kind() != Ack || s.Code() == CreditsInvalid {
		return 0, false
	}
	code := int(s.Code())
	if code < 4 {
		return code, true
	}
	if code%2 == 0 {
		return 1 << (code / 2), true
	}
	return 3 << (code/2 - 1), true
}

// rnrTimers is the wait of an RNR NAK in units of 10 microseconds (IBTA table
// 46). Code 0 is the longest.
var rnrTimers = [32]uint32{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// RNRTimer returns how long an RNR NAK asks the requester to wait.
func (s Syndrome) RNRTimer() time.Duration {
	return time.Duration(rnrTimers[s.Code()]) * 10 * time.Microsecond
}

// NakName names a NAK code, "" for an undefined one.
func NakName(code uint8) string {
	switch code {
	case NakPSNSequence:
		return "PSN Sequence Error"
	case NakInvalidRequest:
		return "Invalid Request"
	case NakRemoteAccess:
		return "Remote Access Error"
	case NakRemoteOperation:
		return "Remote Operational Error"
	case NakInvalidRDRequest:
		return "Invalid RD Request"
	}
	return ""
}

func ackKindName(v uint64) string {
	return [...]string{Ack: "Ack", RNRNak: "RNR Nak", AckReserved: "Reserved", Nak: "Nak"}[v&3]
}

func nakName(v uint64) string { return NakName(uint8(v)) }

func creditName(v uint64) string {
	n, ok := Syndrome(v).Credits()
	if !ok {
		return "no limit"
	}
	return strconv.Itoa(n) + " credits"
}

func rnrTimerName(v uint64) string {
	const perMilli = 100 // the table's unit is 10 microseconds
	n := rnrTimers[v&0x1F]
	return fmt.Sprintf("%d.%02d ms", n/perMilli, n%perMilli)
}

func whenAck(kind AckKind) func(h []byte) bool {
	return func(h []byte) bool { return len(h) > 0 && Syndrome(h[0]).Kind() == kind }
}

var aethSpec = Spec{ID: HdrAETH, Name: "infiniband.aeth", Title: "ACK Extended Transport Header", Len: AETHLen, Fields: []Field{
	{Name: "infiniband.aeth.syndrome", Title: "Syndrome", Bit: 0, Bits: 8},
	{Name: "infiniband.aeth.syndrome.reserved", Title: "Reserved", Bit: 0, Bits: 1},
	{Name: "infiniband.aeth.syndrome.opcode", Title: "OpCode", Bit: 1, Bits: 2, Names: ackKindName},
	{Name: "infiniband.aeth.syndrome.credit_count", Title: "Credit Count", Bit: 3, Bits: 5, Names: creditName, When: whenAck(Ack)},
	{Name: "infiniband.aeth.syndrome.timer", Title: "Timer", Bit: 3, Bits: 5, Names: rnrTimerName, When: whenAck(RNRNak)},
	{Name: "infiniband.aeth.syndrome.reserved_value", Title: "Reserved", Bit: 3, Bits: 5, When: whenAck(AckReserved)},
	{Name: "infiniband.aeth.syndrome.error_code", Title: "Error Code", Bit: 3, Bits: 5, Names: nakName, When: whenAck(Nak)},
	{Name: "infiniband.aeth.msn", Title: "Message Sequence Number", Bit: 8, Bits: 24},
}}
