package layers

import (
	"fmt"
	"strconv"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/wire"
)

// FirstLayerType is the first of the layer type numbers that this package
// takes. They are constants, so that a switch can use them.
const FirstLayerType = 1791

// The layer types of InfiniBand and RoCE.
const (
	LayerTypeBTH gopacket.LayerType = FirstLayerType + iota
	LayerTypeLRH
	LayerTypeRWH
	LayerTypeGRH
	LayerTypeRDETH
	LayerTypeDETH
	LayerTypeXRCETH
	LayerTypeRETH
	LayerTypeAtomicETH
	LayerTypeAETH
	LayerTypeAtomicAckETH
	LayerTypeImmDt
	LayerTypeIETH
	LayerTypeFETH
	LayerTypeCNP
	LayerTypeFlowControl
	LayerTypePad
	LayerTypeICRC

	// Management datagrams.

	LayerTypeMAD
	LayerTypeRMPP
	LayerTypeSMP
	LayerTypeSA
	LayerTypePerfMgt
	LayerTypeCC
	LayerTypeMADData

	// Connection management messages.

	LayerTypeCMReq
	LayerTypeCMMra
	LayerTypeCMRej
	LayerTypeCMRep
	LayerTypeCMRtu
	LayerTypeCMDreq
	LayerTypeCMDrep
	LayerTypeCMSidrReq
	LayerTypeCMSidrRep
	LayerTypeCMLap
	LayerTypeCMApr

	// iWARP.

	LayerTypeMPARequest
	LayerTypeMPAReply
	LayerTypeFPDU
	LayerTypeDDPTagged
	LayerTypeDDPUntagged
	LayerTypeReadRequest
	LayerTypeImmediate
	LayerTypeAtomicRequest
	LayerTypeAtomicResponse
	LayerTypeTerminate

	// Ethernet and capture formats.

	LayerTypeMACControl
	LayerTypeERF

	endOfLayerTypes
)

// LastLayerType is the last of the layer type numbers that this package takes.
const LastLayerType = endOfLayerTypes - 1

// Where the registered protocols are found.
const (
	EthernetTypeRoCE       layers.EthernetType = wire.EtherTypeRoCE
	EthernetTypeMACControl layers.EthernetType = wire.EtherTypeMACControl
	UDPPortRoCE            layers.UDPPort      = wire.PortRoCEv2
	LinkTypeERF            layers.LinkType     = layers.LinkType(wire.LinkERF)
	LinkTypeInfiniBand     layers.LinkType     = layers.LinkType(wire.LinkIB)
)

// The endpoint types of gopacket flows: local and global identifiers.
const (
	EndpointLID gopacket.EndpointType = FirstLayerType + iota
	EndpointGID
)

// registration is one layer type with its name and decoder.
type registration struct {
	typ    gopacket.LayerType
	name   string
	decode gopacket.DecodeFunc
}

func registrations() []registration {
	return []registration{
		{LayerTypeBTH, "BTH", decodeBTH},
		{LayerTypeLRH, "LRH", decodeLRH},
		{LayerTypeRWH, "RWH", decodeRWH},
		{LayerTypeGRH, "GRH", decodeGRH},
		{LayerTypeRDETH, "RDETH", decodeAs[RDETH]},
		{LayerTypeDETH, "DETH", decodeAs[DETH]},
		{LayerTypeXRCETH, "XRCETH", decodeAs[XRCETH]},
		{LayerTypeRETH, "RETH", decodeAs[RETH]},
		{LayerTypeAtomicETH, "AtomicETH", decodeAs[AtomicETH]},
		{LayerTypeAETH, "AETH", decodeAs[AETH]},
		{LayerTypeAtomicAckETH, "AtomicAckETH", decodeAs[AtomicAckETH]},
		{LayerTypeImmDt, "ImmDt", decodeAs[ImmDt]},
		{LayerTypeIETH, "IETH", decodeAs[IETH]},
		{LayerTypeFETH, "FETH", decodeAs[FETH]},
		{LayerTypeCNP, "CNP", decodeAs[CNP]},
		{LayerTypeFlowControl, "FlowControl", decodeAs[FlowControl]},
		{LayerTypePad, "Pad", decodeAs[Pad]},
		{LayerTypeICRC, "ICRC", decodeAs[ICRC]},

		{LayerTypeMAD, "MAD", decodeMAD},
		{LayerTypeRMPP, "RMPP", decodeAs[RMPP]},
		{LayerTypeSMP, "SMP", decodeAs[SMP]},
		{LayerTypeSA, "SA", decodeAs[SA]},
		{LayerTypePerfMgt, "PerfMgt", decodeAs[PerfMgt]},
		{LayerTypeCC, "CC", decodeAs[CC]},
		{LayerTypeMADData, "MADData", decodeAs[MADData]},

		{LayerTypeCMReq, "CMReq", decodeAs[CMReq]},
		{LayerTypeCMMra, "CMMra", decodeAs[CMMra]},
		{LayerTypeCMRej, "CMRej", decodeAs[CMRej]},
		{LayerTypeCMRep, "CMRep", decodeAs[CMRep]},
		{LayerTypeCMRtu, "CMRtu", decodeAs[CMRtu]},
		{LayerTypeCMDreq, "CMDreq", decodeAs[CMDreq]},
		{LayerTypeCMDrep, "CMDrep", decodeAs[CMDrep]},
		{LayerTypeCMSidrReq, "CMSidrReq", decodeAs[CMSidrReq]},
		{LayerTypeCMSidrRep, "CMSidrRep", decodeAs[CMSidrRep]},
		{LayerTypeCMLap, "CMLap", decodeAs[CMLap]},
		{LayerTypeCMApr, "CMApr", decodeAs[CMApr]},

		{LayerTypeMPARequest, "MPARequest", decodeAs[MPARequest]},
		{LayerTypeMPAReply, "MPAReply", decodeAs[MPAReply]},
		{LayerTypeFPDU, "FPDU", decodeAs[FPDU]},
		{LayerTypeDDPTagged, "DDPTagged", decodeAs[DDPTagged]},
		{LayerTypeDDPUntagged, "DDPUntagged", decodeAs[DDPUntagged]},
		{LayerTypeReadRequest, "RDMAPReadRequest", decodeAs[ReadRequest]},
		{LayerTypeImmediate, "RDMAPImmediate", decodeAs[Immediate]},
		{LayerTypeAtomicRequest, "RDMAPAtomicRequest", decodeAs[AtomicRequest]},
		{LayerTypeAtomicResponse, "RDMAPAtomicResponse", decodeAs[AtomicResponse]},
		{LayerTypeTerminate, "RDMAPTerminate", decodeAs[Terminate]},

		{LayerTypeMACControl, "MACControl", decodeAs[MACControl]},
		{LayerTypeERF, "ERF", decodeAs[ERF]},
	}
}

// init registers everything with gopacket, whose registries may only be
// changed at start-up.
func init() {
	for _, r := range registrations() {
		register(r)
	}
	layers.RegisterUDPPortLayerType(UDPPortRoCE, LayerTypeBTH)
	layers.EthernetTypeMetadata[EthernetTypeRoCE] = layers.EnumMetadata{
		DecodeWith: LayerTypeGRH, LayerType: LayerTypeGRH, Name: "RoCE",
	}
	layers.EthernetTypeMetadata[EthernetTypeMACControl] = layers.EnumMetadata{
		DecodeWith: LayerTypeMACControl, LayerType: LayerTypeMACControl, Name: "MACControl",
	}
	layers.LinkTypeMetadata[LinkTypeInfiniBand] = layers.EnumMetadata{
		DecodeWith: LayerTypeLRH, LayerType: LayerTypeLRH, Name: "InfiniBand",
	}
	layers.LinkTypeMetadata[LinkTypeERF] = layers.EnumMetadata{
		DecodeWith: LayerTypeERF, LayerType: LayerTypeERF, Name: "ERF",
	}
	gopacket.RegisterEndpointType(int(EndpointLID), gopacket.EndpointTypeMetadata{Name: "LID", Formatter: formatLID})
	gopacket.RegisterEndpointType(int(EndpointGID), gopacket.EndpointTypeMetadata{Name: "GID", Formatter: formatGID})
}

// register takes a layer type number. gopacket's own message for a number that
// is taken names neither side; an unregistered number prints as itself.
func register(r registration) {
	if taken := r.typ.String(); taken != strconv.Itoa(int(r.typ)) {
		panic(fmt.Sprintf("layers: gopacket layer type %d is wanted for %s but taken by %s", int(r.typ), r.name, taken))
	}
	gopacket.RegisterLayerType(int(r.typ), gopacket.LayerTypeMetadata{Name: r.name, Decoder: r.decode})
}

// LayerTypeOf returns the layer type of a header that an opcode implies, as
// OpcodeInfo.Extended lists them; gopacket.LayerTypeZero for other headers.
func LayerTypeOf(id HeaderID) gopacket.LayerType {
	switch id {
	case wire.HdrRDETH:
		return LayerTypeRDETH
	case wire.HdrDETH:
		return LayerTypeDETH
	case wire.HdrXRCETH:
		return LayerTypeXRCETH
	case wire.HdrRETH:
		return LayerTypeRETH
	case wire.HdrAtomicETH:
		return LayerTypeAtomicETH
	case wire.HdrAETH:
		return LayerTypeAETH
	case wire.HdrAtomicAckETH:
		return LayerTypeAtomicAckETH
	case wire.HdrImmDt:
		return LayerTypeImmDt
	case wire.HdrIETH:
		return LayerTypeIETH
	case wire.HdrFETH:
		return LayerTypeFETH
	case wire.HdrCNP:
		return LayerTypeCNP
	}
	return gopacket.LayerTypeZero
}
