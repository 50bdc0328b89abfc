package wire

// problemTexts says each problem in words, in the order of the bits.
var problemTexts = [...]string{
	"a length field leaves no room for the headers",
	"length fields contradict each other or the frame",
	"TVer is not 0: receivers drop the packet (IBTA 9.6.1.2)",
	"pad count is larger than the payload: receivers drop the packet",
	"undefined opcode",
	"a reserved bit is set",
	"undefined AETH syndrome",
	"payload in a packet that carries none",
	"IP fragment: transport lengths and ICRC cannot be judged",
	"IP options or extension headers: no ICRC rule is defined",
	"more headers than can be followed",
	"unexpected version or next header",
	"management datagram is shorter than its class needs",
	"MPA start-up frame breaks a rule of RFC 5044 or RFC 6581",
	"DDP version is not 1",
	"RDMAP version is not 1",
	"DDP buffer model or queue number is not the RDMAP opcode's",
	"an FPDU's pad bytes are not 0",
}

// AppendTexts adds each problem of the set in words.
func (p Problem) AppendTexts(dst []string) []string {
	for i, text := range problemTexts {
		if p&(1<<i) != 0 {
			dst = append(dst, text)
		}
	}
	return dst
}
