package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// constants lists the names of the exported constants in opcode.go.
func constants(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "opcode.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].IsExported() {
			names = append(names, spec.Names[0].Name)
		}
		return true
	})
	return names
}

func TestEveryDefinedOpcodeHasAConstant(t *testing.T) {
	have := map[string]bool{}
	for _, name := range constants(t) {
		have[strings.ToLower(name)] = true
	}
	defined := 0
	for code := range 256 {
		op := Opcode(code)
		if !op.Info().Defined() || op.Service() == ServiceCNP {
			continue
		}
		defined++
		name := strings.NewReplacer(" ", "", "RDMA", "").Replace(op.String())
		if !have[strings.ToLower(name)] {
			t.Errorf("opcode 0x%02x, %v: no constant %s", code, op, name)
		}
	}
	if got := len(have) - 2; got != defined {
		t.Errorf("%d constants beside the CNPs, %d defined opcodes", got, defined)
	}
}

func TestOpcodeConstantsHaveTheValuesOfTheSpecification(t *testing.T) {
	for want, op := range map[uint8]Opcode{
		0x00: RCSendFirst, 0x0A: RCWriteOnly, 0x11: RCAcknowledge, 0x1C: RCFlush, 0x1D: RCAtomicWrite,
		0x24: UCSendOnly, 0x55: RDResync, 0x64: UDSendOnly, 0x65: UDSendOnlyImmediate,
		0x80: CNPInfiniBand, 0x81: CNPRoCE, 0xB7: XRCSendOnlyInvalidate,
	} {
		if uint8(op) != want {
			t.Errorf("%v is 0x%02x, want 0x%02x", op, uint8(op), want)
		}
	}
}
