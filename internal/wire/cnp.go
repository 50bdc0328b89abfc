package wire

// CNPLen is the length of the reserved body of a congestion notification
// packet (IBTA A17.9.3).
const CNPLen = 16

var cnpSpec = Spec{ID: HdrCNP, Name: "infiniband.cnp", Title: "Congestion Notification", Len: CNPLen, Fields: []Field{
	{Name: "infiniband.cnp.reserved", Title: "Reserved (16 bytes)", Kind: Bytes, Bit: 0, Bits: 128},
}}
