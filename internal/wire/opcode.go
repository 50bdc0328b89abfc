package wire

// Opcode is the first byte of the BTH: three bits of transport service, five of
// operation (IBTA vol. 1, 9.2.1, table 38).
type Opcode uint8

// Service is the transport service of an opcode.
type Service uint8

// The transport services.
const (
	ServiceNone Service = iota // not a defined service
	RC
	UC
	RD
	UD
	CNP
	XRC
	Manufacturer // 0xC0 to 0xFF
)

var serviceNames = [...]string{ServiceNone: "", RC: "RC", UC: "UC", RD: "RD", UD: "UD", CNP: "CNP", XRC: "XRC", Manufacturer: "Manufacturer"}

// String returns the service's short name.
func (s Service) String() string { return serviceNames[s] }

// The services' places in the opcode space.
const (
	BaseRC  = 0x00
	BaseUC  = 0x20
	BaseRD  = 0x40
	BaseUD  = 0x60
	baseCNP = 0x80
	BaseXRC = 0xA0
)

// Operations: the low five bits of an opcode.
const (
	OpSendFirst          = 0x00
	OpSendMiddle         = 0x01
	OpSendLast           = 0x02
	OpSendLastImmediate  = 0x03
	OpSendOnly           = 0x04
	OpSendOnlyImmediate  = 0x05
	OpWriteFirst         = 0x06
	OpWriteMiddle        = 0x07
	OpWriteLast          = 0x08
	OpWriteLastImmediate = 0x09
	OpWriteOnly          = 0x0A
	OpWriteOnlyImmediate = 0x0B
	OpReadRequest        = 0x0C
	OpReadResponseFirst  = 0x0D
	OpReadResponseMiddle = 0x0E
	OpReadResponseLast   = 0x0F
	OpReadResponseOnly   = 0x10
	OpAcknowledge        = 0x11
	OpAtomicAcknowledge  = 0x12
	OpCompareSwap        = 0x13
	OpFetchAdd           = 0x14
	OpResync             = 0x15 // RD only
	OpSendLastInvalidate = 0x16
	OpSendOnlyInvalidate = 0x17
	OpFlush              = 0x1C
	OpAtomicWrite        = 0x1D
)

// Congestion notification packets.
const (
	OpcodeCNP     Opcode = 0x80 // native InfiniBand and OPA (IBTA A10.3.2)
	OpcodeRoCECNP Opcode = 0x81 // RoCEv2 (IBTA A17.9.3)
)

const (
	operationMask = 0x1F
	maxExtended   = 4
)

// Place says where in its message a packet stands.
type Place uint8

// The places of a packet in its message.
const (
	PlaceNone Place = iota
	PlaceFirst
	PlaceMiddle
	PlaceLast
	PlaceOnly
)

// OpcodeInfo is what an opcode implies.
type OpcodeInfo struct {
	Name     string // "RC RDMA WRITE First"; "" when the opcode is not defined
	Service  Service
	Place    Place
	Response bool // sent by the responder
	Payload  bool // may carry payload

	ext    [maxExtended]HeaderID
	n      uint8
	length uint8
}

// Defined reports whether a header stack is defined for the opcode.
func (i *OpcodeInfo) Defined() bool { return i.Name != "" }

// Extended returns the headers that follow the BTH, in order.
func (i *OpcodeInfo) Extended() []HeaderID { return i.ext[:i.n] }

// HeaderLen is the length of the BTH and all its extended headers.
func (i *OpcodeInfo) HeaderLen() int { return int(i.length) }

// Info returns what the opcode implies. The value is shared: do not change it.
func (op Opcode) Info() *OpcodeInfo { return &opcodes[op] }

// Service returns the opcode's transport service, also for undefined
// operations of a known service.
func (op Opcode) Service() Service {
	return [...]Service{RC, UC, RD, UD, CNP, XRC, Manufacturer, Manufacturer}[op>>5]
}

// Operation returns the low five bits.
func (op Opcode) Operation() uint8 { return uint8(op) & operationMask }

// String names the opcode; an undefined one is named by its service.
func (op Opcode) String() string {
	if name := opcodes[op].Name; name != "" {
		return name
	}
	switch op.Service() {
	case Manufacturer:
		return "Manufacturer opcode"
	case CNP:
		return "Unknown opcode"
	}
	return "Unknown " + op.Service().String() + " opcode"
}

// operation is what the low five bits mean in the reliable connected service,
// from which the other services' stacks follow.
type operation struct {
	name     string
	ext      []HeaderID
	place    Place
	response bool
	payload  bool
	in       [len(serviceNames)]bool // services that have it
}

func services(list ...Service) (in [len(serviceNames)]bool) {
	for _, s := range list {
		in[s] = true
	}
	return in
}

// operations is the one table of operations (IBTA vol. 1 table 38 and 9.4;
// FLUSH and ATOMIC WRITE: Annex A19; XRC: Annex A14).
func operations() [32]operation {
	all := services(RC, UC, RD, XRC)
	withUD := services(RC, UC, RD, UD, XRC)
	acked := services(RC, RD, XRC)
	connected := services(RC, XRC)
	return [32]operation{
		OpSendFirst:          {"SEND First", nil, PlaceFirst, false, true, all},
		OpSendMiddle:         {"SEND Middle", nil, PlaceMiddle, false, true, all},
		OpSendLast:           {"SEND Last", nil, PlaceLast, false, true, all},
		OpSendLastImmediate:  {"SEND Last Immediate", []HeaderID{HdrImmDt}, PlaceLast, false, true, all},
		OpSendOnly:           {"SEND Only", nil, PlaceOnly, false, true, withUD},
		OpSendOnlyImmediate:  {"SEND Only Immediate", []HeaderID{HdrImmDt}, PlaceOnly, false, true, withUD},
		OpWriteFirst:         {"RDMA WRITE First", []HeaderID{HdrRETH}, PlaceFirst, false, true, all},
		OpWriteMiddle:        {"RDMA WRITE Middle", nil, PlaceMiddle, false, true, all},
		OpWriteLast:          {"RDMA WRITE Last", nil, PlaceLast, false, true, all},
		OpWriteLastImmediate: {"RDMA WRITE Last Immediate", []HeaderID{HdrImmDt}, PlaceLast, false, true, all},
		OpWriteOnly:          {"RDMA WRITE Only", []HeaderID{HdrRETH}, PlaceOnly, false, true, all},
		OpWriteOnlyImmediate: {"RDMA WRITE Only Immediate", []HeaderID{HdrRETH, HdrImmDt}, PlaceOnly, false, true, all},
		OpReadRequest:        {"RDMA READ Request", []HeaderID{HdrRETH}, PlaceOnly, false, false, acked},
		OpReadResponseFirst:  {"RDMA READ Response First", []HeaderID{HdrAETH}, PlaceFirst, true, true, acked},
		OpReadResponseMiddle: {"RDMA READ Response Middle", nil, PlaceMiddle, true, true, acked},
		OpReadResponseLast:   {"RDMA READ Response Last", []HeaderID{HdrAETH}, PlaceLast, true, true, acked},
		OpReadResponseOnly:   {"RDMA READ Response Only", []HeaderID{HdrAETH}, PlaceOnly, true, true, acked},
		OpAcknowledge:        {"Acknowledge", []HeaderID{HdrAETH}, PlaceOnly, true, false, acked},
		OpAtomicAcknowledge:  {"ATOMIC Acknowledge", []HeaderID{HdrAETH, HdrAtomicAckETH}, PlaceOnly, true, false, acked},
		OpCompareSwap:        {"Compare Swap", []HeaderID{HdrAtomicETH}, PlaceOnly, false, false, acked},
		OpFetchAdd:           {"Fetch Add", []HeaderID{HdrAtomicETH}, PlaceOnly, false, false, acked},
		OpResync:             {"RESYNC", nil, PlaceOnly, false, false, services(RD)},
		OpSendLastInvalidate: {"SEND Last Invalidate", []HeaderID{HdrIETH}, PlaceLast, false, true, connected},
		OpSendOnlyInvalidate: {"SEND Only Invalidate", []HeaderID{HdrIETH}, PlaceOnly, false, true, connected},
		OpFlush:              {"FLUSH", []HeaderID{HdrFETH, HdrRETH}, PlaceOnly, false, false, acked},
		OpAtomicWrite:        {"ATOMIC WRITE", []HeaderID{HdrRETH}, PlaceOnly, false, true, acked},
	}
}

// opcodes is the whole opcode space, derived once from operations.
var opcodes = buildOpcodes()

func buildOpcodes() (table [256]OpcodeInfo) {
	bases := map[Service]int{RC: BaseRC, UC: BaseUC, RD: BaseRD, UD: BaseUD, XRC: BaseXRC}
	for code, op := range operations() {
		for service, base := range bases {
			if op.in[service] {
				table[base+code] = newInfo(service, op, uint8(code))
			}
		}
	}
	cnp := operation{ext: []HeaderID{HdrCNP}, place: PlaceOnly}
	for op, name := range map[Opcode]string{OpcodeCNP: "CNP (InfiniBand)", OpcodeRoCECNP: "CNP"} {
		cnp.name = name
		table[op] = newInfo(CNP, cnp, uint8(op))
		table[op].Name = name
	}
	for op := range table {
		if table[op].Service == ServiceNone {
			table[op].Service = Opcode(op).Service()
			table[op].length = BTHLen
		}
	}
	return table
}

// newInfo derives a service's header stack from the RC one: RD puts RDETH first
// and a DETH into every request (IBTA 9.4; FLUSH names no DETH, A19.4.1), UD a
// DETH, XRC an XRCETH into every request, MIDDLE and LAST too (A14).
func newInfo(service Service, op operation, code uint8) OpcodeInfo {
	info := OpcodeInfo{
		Name: service.String() + " " + op.name, Service: service,
		Place: op.place, Response: op.response, Payload: op.payload,
	}
	add := func(id HeaderID) {
		info.ext[info.n] = id
		info.n++
	}
	switch {
	case service == RD:
		add(HdrRDETH)
		if !op.response && code != OpFlush {
			add(HdrDETH)
		}
	case service == UD:
		add(HdrDETH)
	case service == XRC && !op.response:
		add(HdrXRCETH)
	}
	for _, id := range op.ext {
		add(id)
	}
	info.length = BTHLen
	for _, id := range info.Extended() {
		info.length += uint8(extendedLen[id-HdrLRH])
	}
	return info
}

// extendedLen is the length of each extended header; specs can't be asked here,
// because their value names refer to the opcode table.
var extendedLen = [...]int{
	HdrRDETH - HdrLRH:        RDETHLen,
	HdrDETH - HdrLRH:         DETHLen,
	HdrXRCETH - HdrLRH:       XRCETHLen,
	HdrRETH - HdrLRH:         RETHLen,
	HdrAtomicETH - HdrLRH:    AtomicETHLen,
	HdrAETH - HdrLRH:         AETHLen,
	HdrAtomicAckETH - HdrLRH: AtomicAckETHLen,
	HdrImmDt - HdrLRH:        ImmDtLen,
	HdrIETH - HdrLRH:         IETHLen,
	HdrFETH - HdrLRH:         FETHLen,
	HdrCNP - HdrLRH:          CNPLen,
}
