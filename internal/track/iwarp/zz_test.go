package iwarp
import ("testing";"fmt";"path/filepath";"strings";"github.com/rocecap/rocecap/internal/testneed")
func TestDump(t *testing.T) {
	sh := testneed.Shared(t)
	var files []string
	for _, g := range []string{"fixtures/iw.pcap","fixtures/mk.pcap","cases/2[579]*.pcap","captures/public/iwarp*","captures/recorded/iw_*"} {
		m,_ := filepath.Glob(filepath.Join(sh,g)); files = append(files,m...)
	}
	for _, f := range files {
		r,_ := filepath.Rel(sh,f)
		fmt.Println("=====",r)
		sum := map[string]int{}
		for i, k := range track(capture(t, r)) {
			op,_ := k.Opcode()
			sum[fmt.Sprintf("%v/%v/%v", k.Kind, op, k.CRC)]++
			if i < 12 || strings.Contains(r,"fixtures") || k.Kind==Skipped || k.Kind==Gap { fmt.Println(k.in, k.Kind, op, k.CRC, "at",k.Stream,k.Len,"miss",k.Missing,"off",k.Offset,"pk",k.First,k.Last,k.Segments,"mk",len(k.Markers),k.Issues) }
		}
		fmt.Println(sum)
	}
}
