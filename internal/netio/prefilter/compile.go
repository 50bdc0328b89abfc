package prefilter

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
)

// ErrNoTCPDump says why an expression cannot be compiled.
var ErrNoTCPDump = errors.New("tcpdump is not installed, and it is what compiles filter expressions")

// maxInstructions is BPF_MAXINSNS, what the kernel accepts.
const maxInstructions = 4096

// Compile has tcpdump compile an expression (pcap-filter(7)) for frames that
// begin with an Ethernet header. The kernel takes VLAN tags out of frames before
// the program runs; only a program made for an open interface asks for them
// there, and tcpdump needs CAP_NET_RAW to open it. Without that right an
// expression about VLANs is an error.
func Compile(expression, iface string) ([]bpf.RawInstruction, error) {
	path, err := exec.LookPath("tcpdump")
	if err != nil {
		return nil, ErrNoTCPDump
	}
	program, err := run(path, expression, "-i", iface)
	if err == nil {
		return program, nil
	}
	// Whether it is the expression that is wrong does not depend on the interface.
	program, general := run(path, expression, "-y", "EN10MB")
	if general != nil {
		return nil, fmt.Errorf("filter %q: %w", expression, general)
	}
	if strings.Contains(expression, "vlan") {
		return nil, fmt.Errorf("filter %q: tags are only found by a program for the interface: %w", expression, err)
	}
	return program, nil
}

// run asks tcpdump for a program in decimal numbers: how many instructions, then
// one a line. The expression is one argument behind "--", so that it cannot be
// an option.
func run(path, expression string, where ...string) ([]bpf.RawInstruction, error) {
	var out, fault bytes.Buffer
	command := exec.Command(path, append(where, "-ddd", "--", expression)...)
	command.Stdout, command.Stderr = &out, &fault
	if err := command.Run(); err != nil {
		text := strings.Join(strings.Fields(fault.String()), " ")
		if text == "" {
			text = "tcpdump: " + err.Error()
		}
		return nil, errors.New(text)
	}
	return parse(out.String())
}

// parse reads the output of tcpdump -ddd.
func parse(text string) ([]bpf.RawInstruction, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	count, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || count != len(lines)-1 || count < 1 || count > maxInstructions {
		return nil, fmt.Errorf("tcpdump: %d lines of program begin with %q", len(lines), lines[0])
	}
	program := make([]bpf.RawInstruction, count)
	for i, line := range lines[1:] {
		if program[i], err = instruction(line); err != nil {
			return nil, err
		}
	}
	return program, nil
}

func instruction(line string) (bpf.RawInstruction, error) {
	var part [4]uint64
	fields := strings.Fields(line)
	for i, bits := range []int{16, 8, 8, 32} {
		if len(fields) != len(part) {
			return bpf.RawInstruction{}, fmt.Errorf("tcpdump: %q is not an instruction", line)
		}
		var err error
		if part[i], err = strconv.ParseUint(fields[i], 10, bits); err != nil {
			return bpf.RawInstruction{}, fmt.Errorf("tcpdump: %q is not an instruction", line)
		}
	}
	return bpf.RawInstruction{
		Op: uint16(part[0]), Jt: uint8(part[1]), Jf: uint8(part[2]), K: uint32(part[3]),
	}, nil
}
