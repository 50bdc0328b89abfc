package wire

// Upper is what the payload of a queue pair is. The bytes never say so: a CM
// service ID does, or the user.
type Upper uint8

// The upper layers that have a name here.
const (
	UpperUnknown   Upper = iota // nothing said what it is: plain data
	UpperData                   // said to be plain data
	UpperNVMe                   // an I/O queue of NVMe over Fabrics
	UpperNVMeAdmin              // its queue 0
	UpperIPoIB
)

var upperNames = [...]string{UpperUnknown: "", UpperData: "data", UpperNVMe: "nvme", UpperNVMeAdmin: "nvme-admin", UpperIPoIB: "ipoib"}

// String returns the name that UpperByName knows.
func (u Upper) String() string { return upperNames[u] }

// UpperByName finds an upper layer by its name.
func UpperByName(name string) (Upper, bool) {
	for u, n := range upperNames {
		if n == name && n != "" {
			return Upper(u), true
		}
	}
	return UpperUnknown, false
}

// UpperNames lists the names that UpperByName knows.
func UpperNames() []string { return upperNames[UpperData:] }

// serviceIPoIB is what IPoIB connected mode adds a queue pair number to (RFC
// 4755, 3.3; Linux ipoib_cm.c).
const serviceIPoIB = 0x1000_0000_0000_0000

// portNVMe is the rdma_cm port of NVMe over Fabrics (IANA).
const portNVMe = 4420

// UpperOfService says what the queue pairs carry that were connected to a CM
// service ID. private is the consumer's private data of the REQ: NVMe names
// its queue there, and gives the opcodes of queue 0 another meaning.
func UpperOfService(service uint64, private []byte) Upper {
	if service&^0xFFFFFF == serviceIPoIB {
		return UpperIPoIB
	}
	if protocol, port, ok := ParseCMIPServiceID(service); !ok || protocol != IPProtoTCP || port != portNVMe {
		return UpperUnknown
	}
	if req := NVMeCMReq(private); len(req) >= nvmeCMReqHead && req.RecordFormat() == 0 && req.QueueID() == 0 {
		return UpperNVMeAdmin
	}
	return UpperNVMe
}

// Interpret continues the parse into the payload of the frame, as what it is
// said to be. Only a SEND's first packet begins with an upper-layer header;
// RDMA READ and WRITE move bare data.
func (f *Frame) Interpret(as Upper) {
	op, ok := f.Opcode()
	if !ok || !beginsSend(op) || f.PayloadLen == 0 {
		return
	}
	end := f.Payload + f.PayloadLen
	switch as {
	case UpperNVMe, UpperNVMeAdmin:
		f.nvme(as, end)
	case UpperIPoIB:
		if f.PayloadLen >= IPoIBLen {
			f.replacePayload(HdrIPoIB, IPoIBLen, end)
		}
	}
}

// nvme finds the structure that a capsule begins with.
func (f *Frame) nvme(as Upper, end int) {
	switch {
	case f.PayloadLen == NVMeResponseLen:
		f.replacePayload(HdrNVMeResponse, NVMeResponseLen, end)
	case f.PayloadLen < NVMeCommandLen:
	case f.Payload < len(f.Data) && f.Data[f.Payload] == nvmeFabrics:
		f.replacePayload(HdrNVMeFabrics, NVMeCommandLen, end)
	case as == UpperNVMeAdmin:
		f.replacePayload(HdrNVMeAdmin, NVMeCommandLen, end)
	default:
		f.replacePayload(HdrNVMeCommand, NVMeCommandLen, end)
	}
}

func beginsSend(op Opcode) bool {
	switch op.Operation() {
	case OpSendFirst, OpSendOnly, OpSendOnlyImmediate, OpSendOnlyInvalidate:
		return op.Info().Defined() && op.Service() != CNP
	}
	return false
}

// replacePayload puts a header of n bytes where the payload begins; what is
// left of it stays payload.
func (f *Frame) replacePayload(id HeaderID, n, end int) {
	for i := range f.Headers() {
		h := &f.hdrs[i]
		if h.ID != HdrPayload {
			continue
		}
		h.ID, h.Len = id, int32(n)
		if rest := end - f.Payload - n; rest > 0 {
			f.insert(i+1, HdrPayload, f.Payload+n, rest)
		}
		return
	}
}

// insert adds a header at place i.
func (f *Frame) insert(i int, id HeaderID, off, length int) {
	if !f.Push(id, off, length) {
		f.Problems |= ProblemTooDeep
		return
	}
	last := f.hdrs[f.n-1]
	copy(f.hdrs[i+1:f.n], f.hdrs[i:f.n-1])
	f.hdrs[i] = last
}
