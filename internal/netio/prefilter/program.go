package prefilter

import (
	"golang.org/x/net/bpf"
)

// wholeFrame is what a program returns to accept a frame: how many bytes of it
// to keep, more than any frame has.
const wholeFrame = 1 << 18

// label is a place in a program that is not written yet.
type label int

// program is a BPF program under construction. Verdicts stand where they are
// found, so that only jumps to labels are long: a conditional jump reaches no
// further than 255 instructions.
type program struct {
	code    []bpf.Instruction
	place   []int         // of each label
	pending map[int]label // jumps whose distance is not known yet
}

func newProgram() *program { return &program{pending: map[int]label{}} }

func (p *program) add(code ...bpf.Instruction) { p.code = append(p.code, code...) }

// label makes a label, which put places at the next instruction.
func (p *program) label() label {
	p.place = append(p.place, 0)
	return label(len(p.place) - 1)
}

func (p *program) put(l label) { p.place[l] = len(p.code) }

func (p *program) jump(l label) {
	p.pending[len(p.code)] = l
	p.add(bpf.Jump{})
}

// jumpIf goes to l when A is v.
func (p *program) jumpIf(v uint32, l label) {
	p.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1})
	p.jump(l)
}

// jumpIfBits goes to l when one of the bits is set in A.
func (p *program) jumpIfBits(bits uint32, l label) {
	p.add(bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipFalse: 1})
	p.jump(l)
}

// acceptIf accepts the frame when A is one of the values.
func (p *program) acceptIf(values ...uint32) {
	for _, v := range values {
		p.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1}, bpf.RetConstant{Val: wholeFrame})
	}
}

func (p *program) accept() { p.add(bpf.RetConstant{Val: wholeFrame}) }
func (p *program) reject() { p.add(bpf.RetConstant{}) }

// load8 and load16 load into A what lies off bytes behind X. A frame that ends
// before is rejected.
func (p *program) load8(off uint32)  { p.add(bpf.LoadIndirect{Off: off, Size: 1}) }
func (p *program) load16(off uint32) { p.add(bpf.LoadIndirect{Off: off, Size: 2}) }

// advance adds n to X; advanceByA adds A and n.
func (p *program) advance(n uint32) {
	p.add(bpf.TXA{}, bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: n}, bpf.TAX{})
}

func (p *program) advanceByA(n uint32) {
	p.add(bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: n}, bpf.ALUOpX{Op: bpf.ALUOpAdd}, bpf.TAX{})
}

// assemble completes the jumps.
func (p *program) assemble() ([]bpf.RawInstruction, error) {
	for at, l := range p.pending {
		p.code[at] = bpf.Jump{Skip: uint32(p.place[l] - at - 1)}
	}
	return bpf.Assemble(p.code)
}
