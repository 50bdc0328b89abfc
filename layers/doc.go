// Package layers adds RDMA to gopacket: layers for InfiniBand, RoCEv1, RoCEv2
// and iWARP, for the management datagrams that set connections up, and for the
// Ethernet flow-control frames that go with them. Importing the package
// registers everything; gopacket.NewPacket then decodes RDMA by itself:
//
//	import _ "github.com/rocecap/rocecap/layers"
//
// # What is registered
//
// EtherType 0x8915 decodes as GRH (RoCEv1), UDP port 4791 as BTH (RoCEv2),
// EtherType 0x8808 as MACControl, link type 247 as LRH (native InfiniBand) and
// link type 197 as ERF. Layer types take the numbers from FirstLayerType to
// LastLayerType; another package that registers one of them stops the program
// at start-up with a message that names both.
//
// # Two ways to decode
//
// gopacket.NewPacket gives every header as a layer of its own: BTH, the
// extended headers that its opcode implies, Payload (or MAD and what is in it),
// Pad, ICRC. A packet sent from UDP port 4791 that cannot be RoCE stays a
// Payload.
//
// gopacket.DecodingLayerParser allocates nothing. A DecodingLayer sees only its
// own bytes, and which header follows an RETH is decided by the opcode in the
// BTH; so RoCE is one DecodingLayer for the BTH and all that follows it.
//
// # Writing packets
//
// Every layer has SerializeTo. With FixLengths the BTH counts and writes the
// pad, the GRH and LRH their lengths, an FPDU its length and pad; with
// ComputeChecksums an FPDU its CRC32c. The ICRC covers the headers outside of
// it, which gopacket writes last: give an ICRC layer to make room for it, and
// call FixICRC with the finished frame.
//
// # Limitations
//
//   - Where a capture cut a frame, no layer can tell the ICRC from payload: the
//     packet is marked as truncated, the last bytes stay in the Payload, and
//     there is no Pad and no ICRC layer. This needs a decoder that reports
//     truncation (NewPacket and DecodingLayerParser do): DecodeFromBytes called
//     with gopacket.NilDecodeFeedback takes its bytes for the whole packet.
//   - Reserved bits are not kept: SerializeTo writes them as zero, but for the
//     parts of management datagrams and CNPs.
//   - iWARP runs over a TCP stream. Give one MPA start-up frame or one FPDU
//     with its markers taken out to LayerTypeMPARequest, LayerTypeMPAReply or
//     LayerTypeFPDU; this package does no reassembly and registers no TCP port.
//   - The BTH names the destination queue pair only, so it gives no
//     gopacket.Flow; pairing the two directions needs the connection's set-up.
//   - gopacket's Ethernet pads every frame that it writes to 60 bytes, and its
//     UDP computes the checksum, which RoCEv2 may leave 0, whenever
//     ComputeChecksums is set. For one of the two alone serialise twice, or
//     clear the field afterwards: the ICRC covers neither.
//   - The layers outside are gopacket's own. Its GRE decoder follows no ERSPAN
//     and panics on a cut header: leave NewPacket's recovery on.
//   - gopacket's link types have 8 bits: captures of LINUX_SLL2 (276) do not
//     decode.
package layers
