package wire

import (
	"fmt"
	"strings"
	"testing"
)

// opcodeTable lists every defined opcode: its name, place (First, Middle, Last,
// Only), whether it is a response, whether it may carry payload, the length of
// its headers with the BTH, and the headers behind the BTH (IBTA vol. 1 table
// 38, 9.4, A14.3, A17.9.3, A19).
const opcodeTable = `
00 F request  payload 12 RC SEND First:
01 M request  payload 12 RC SEND Middle:
02 L request  payload 12 RC SEND Last:
03 L request  payload 16 RC SEND Last Immediate: immdt
04 O request  payload 12 RC SEND Only:
05 O request  payload 16 RC SEND Only Immediate: immdt
06 F request  payload 28 RC RDMA WRITE First: reth
07 M request  payload 12 RC RDMA WRITE Middle:
08 L request  payload 12 RC RDMA WRITE Last:
09 L request  payload 16 RC RDMA WRITE Last Immediate: immdt
0a O request  payload 28 RC RDMA WRITE Only: reth
0b O request  payload 32 RC RDMA WRITE Only Immediate: reth immdt
0c O request  none    28 RC RDMA READ Request: reth
0d F response payload 16 RC RDMA READ Response First: aeth
0e M response payload 12 RC RDMA READ Response Middle:
0f L response payload 16 RC RDMA READ Response Last: aeth
10 O response payload 16 RC RDMA READ Response Only: aeth
11 O response none    16 RC Acknowledge: aeth
12 O response none    24 RC ATOMIC Acknowledge: aeth atomicacketh
13 O request  none    40 RC Compare Swap: atomiceth
14 O request  none    40 RC Fetch Add: atomiceth
16 L request  payload 16 RC SEND Last Invalidate: ieth
17 O request  payload 16 RC SEND Only Invalidate: ieth
1c O request  none    32 RC FLUSH: feth reth
1d O request  payload 28 RC ATOMIC WRITE: reth

20 F request  payload 12 UC SEND First:
21 M request  payload 12 UC SEND Middle:
22 L request  payload 12 UC SEND Last:
23 L request  payload 16 UC SEND Last Immediate: immdt
24 O request  payload 12 UC SEND Only:
25 O request  payload 16 UC SEND Only Immediate: immdt
26 F request  payload 28 UC RDMA WRITE First: reth
27 M request  payload 12 UC RDMA WRITE Middle:
28 L request  payload 12 UC RDMA WRITE Last:
29 L request  payload 16 UC RDMA WRITE Last Immediate: immdt
2a O request  payload 28 UC RDMA WRITE Only: reth
2b O request  payload 32 UC RDMA WRITE Only Immediate: reth immdt

40 F request  payload 24 RD SEND First: rdeth deth
41 M request  payload 24 RD SEND Middle: rdeth deth
42 L request  payload 24 RD SEND Last: rdeth deth
43 L request  payload 28 RD SEND Last Immediate: rdeth deth immdt
44 O request  payload 24 RD SEND Only: rdeth deth
45 O request  payload 28 RD SEND Only Immediate: rdeth deth immdt
46 F request  payload 40 RD RDMA WRITE First: rdeth deth reth
47 M request  payload 24 RD RDMA WRITE Middle: rdeth deth
48 L request  payload 24 RD RDMA WRITE Last: rdeth deth
49 L request  payload 28 RD RDMA WRITE Last Immediate: rdeth deth immdt
4a O request  payload 40 RD RDMA WRITE Only: rdeth deth reth
4b O request  payload 44 RD RDMA WRITE Only Immediate: rdeth deth reth immdt
4c O request  none    40 RD RDMA READ Request: rdeth deth reth
4d F response payload 20 RD RDMA READ Response First: rdeth aeth
4e M response payload 16 RD RDMA READ Response Middle: rdeth
4f L response payload 20 RD RDMA READ Response Last: rdeth aeth
50 O response payload 20 RD RDMA READ Response Only: rdeth aeth
51 O response none    20 RD Acknowledge: rdeth aeth
52 O response none    28 RD ATOMIC Acknowledge: rdeth aeth atomicacketh
53 O request  none    52 RD Compare Swap: rdeth deth atomiceth
54 O request  none    52 RD Fetch Add: rdeth deth atomiceth
55 O request  none    24 RD RESYNC: rdeth deth
5c O request  none    36 RD FLUSH: rdeth feth reth
5d O request  payload 40 RD ATOMIC WRITE: rdeth deth reth

64 O request  payload 20 UD SEND Only: deth
65 O request  payload 24 UD SEND Only Immediate: deth immdt

80 O request  none    28 CNP (InfiniBand): cnp
81 O request  none    28 CNP: cnp

a0 F request  payload 16 XRC SEND First: xrceth
a1 M request  payload 16 XRC SEND Middle: xrceth
a2 L request  payload 16 XRC SEND Last: xrceth
a3 L request  payload 20 XRC SEND Last Immediate: xrceth immdt
a4 O request  payload 16 XRC SEND Only: xrceth
a5 O request  payload 20 XRC SEND Only Immediate: xrceth immdt
a6 F request  payload 32 XRC RDMA WRITE First: xrceth reth
a7 M request  payload 16 XRC RDMA WRITE Middle: xrceth
a8 L request  payload 16 XRC RDMA WRITE Last: xrceth
a9 L request  payload 20 XRC RDMA WRITE Last Immediate: xrceth immdt
aa O request  payload 32 XRC RDMA WRITE Only: xrceth reth
ab O request  payload 36 XRC RDMA WRITE Only Immediate: xrceth reth immdt
ac O request  none    32 XRC RDMA READ Request: xrceth reth
ad F response payload 16 XRC RDMA READ Response First: aeth
ae M response payload 12 XRC RDMA READ Response Middle:
af L response payload 16 XRC RDMA READ Response Last: aeth
b0 O response payload 16 XRC RDMA READ Response Only: aeth
b1 O response none    16 XRC Acknowledge: aeth
b2 O response none    24 XRC ATOMIC Acknowledge: aeth atomicacketh
b3 O request  none    44 XRC Compare Swap: xrceth atomiceth
b4 O request  none    44 XRC Fetch Add: xrceth atomiceth
b6 L request  payload 20 XRC SEND Last Invalidate: xrceth ieth
b7 O request  payload 20 XRC SEND Only Invalidate: xrceth ieth
bc O request  none    36 XRC FLUSH: xrceth feth reth
bd O request  payload 32 XRC ATOMIC WRITE: xrceth reth
`

// describe writes an opcode as a line of opcodeTable.
func describe(op Opcode) string {
	info := op.Info()
	way, payload := "request ", "none   "
	if info.Response {
		way = "response"
	}
	if info.Payload {
		payload = "payload"
	}
	line := fmt.Sprintf("%02x %c %s %s %d %s:", uint8(op), "-FMLO"[info.Place], way, payload, info.HeaderLen(), info.Name)
	for _, id := range info.Extended() {
		line += " " + strings.TrimPrefix(SpecOf(id).Name, "infiniband.")
	}
	return line
}

// serviceOf is the service that the upper three bits of an opcode name.
func serviceOf(op int) Service {
	return []Service{RC, UC, RD, UD, CNP, XRC, Manufacturer, Manufacturer}[op>>5]
}

func TestEveryOpcode(t *testing.T) {
	want := map[string]string{}
	for line := range strings.Lines(opcodeTable) {
		if line = strings.TrimSpace(line); line != "" {
			want[line[:2]] = line
		}
	}
	for v := range 256 {
		op := Opcode(v)
		line, defined := want[fmt.Sprintf("%02x", v)]
		if op.Service() != serviceOf(v) || op.Info().Service != serviceOf(v) || int(op.Operation()) != v&31 {
			t.Errorf("%02x: service %v and %v, operation %#02x", v, op.Service(), op.Info().Service, op.Operation())
		}
		switch {
		case op.Info().Defined() != defined:
			t.Errorf("%02x: defined %v, want %v", v, !defined, defined)
		case defined:
			if got := describe(op); got != line {
				t.Errorf("got  %s\nwant %s", got, line)
			}
			if op.String() != op.Info().Name {
				t.Errorf("%02x is called %q and %q", v, op, op.Info().Name)
			}
		case len(op.Info().Extended()) != 0 || op.Info().HeaderLen() != BTHLen || op.Info().Place != PlaceNone:
			t.Errorf("%02x is not defined and has %+v", v, op.Info())
		}
	}
	if len(want) != 90 {
		t.Errorf("the table has %d opcodes", len(want))
	}
}

func TestUndefinedOpcodesAreCalledByTheirService(t *testing.T) {
	for op, want := range map[Opcode]string{
		0x15: "Unknown RC opcode",
		0x36: "Unknown UC opcode",
		0x56: "Unknown RD opcode",
		0x60: "Unknown UD opcode",
		0x82: "Unknown opcode",
		0xB5: "Unknown XRC opcode",
		0xC0: "Manufacturer opcode",
		0xFF: "Manufacturer opcode",
	} {
		if op.Info().Defined() || op.String() != want || opcodeName(uint64(op)) != want {
			t.Errorf("%02x: defined %v, called %q, want %q", uint8(op), op.Info().Defined(), op, want)
		}
	}
}

func TestServiceNames(t *testing.T) {
	for s, want := range []string{"", "RC", "UC", "RD", "UD", "CNP", "XRC", "Manufacturer"} {
		if got := Service(s).String(); got != want {
			t.Errorf("service %d is called %q, want %q", s, got, want)
		}
	}
}

func TestExtendedHeadersHaveTheLengthOfTheirSpec(t *testing.T) {
	for i, n := range extendedLen {
		if spec := SpecOf(HdrLRH + HeaderID(i)); n != 0 && spec.Len != n {
			t.Errorf("%s: %d bytes here, %d in its description", spec.Name, n, spec.Len)
		}
	}
}
