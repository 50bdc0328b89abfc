package layers

import (
	"errors"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// BaseLayer holds the bytes of a layer and of what it carries.
type BaseLayer = layers.BaseLayer

// Errors of the decoders.
var (
	ErrShort   = errors.New("too few bytes")
	ErrNotRoCE = errors.New("not a RoCE packet")
)

// decodingLayer is what every layer here is.
type decodingLayer interface {
	gopacket.Layer
	gopacket.DecodingLayer
	gopacket.SerializableLayer
}

// decodeAs decodes one layer of type T and goes on with the one that it names.
func decodeAs[T any, P interface {
	*T
	decodingLayer
}](data []byte, p gopacket.PacketBuilder,
) error {
	h := P(new(T))
	if err := h.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(h)
	return next(p, h.NextLayerType())
}

// next continues with a layer type; none means that the packet ends here.
func next(p gopacket.PacketBuilder, t gopacket.LayerType) error {
	if t == gopacket.LayerTypeZero {
		return nil
	}
	return p.NextDecoder(t)
}

// split divides data into a header of n bytes and what follows it.
func split(t gopacket.LayerType, data []byte, n int, df gopacket.DecodeFeedback) (BaseLayer, error) {
	if len(data) < n {
		df.SetTruncated()
		return BaseLayer{}, fmt.Errorf("%v: %w: %d of %d", t, ErrShort, len(data), n)
	}
	return BaseLayer{Contents: data[:n], Payload: data[n:]}, nil
}

// clip ends the bytes of a layer where its length field says. It reports
// truncation when the bytes end earlier.
func clip(data []byte, n int, df gopacket.DecodeFeedback) []byte {
	if n > len(data) {
		df.SetTruncated()
		return data
	}
	return data[:n]
}

// prepend makes room for n zero bytes before those that were written so far.
func prepend(b gopacket.SerializeBuffer, n int) ([]byte, error) {
	room, err := b.PrependBytes(n)
	if err != nil {
		return nil, err
	}
	clear(room) // a buffer that is used again holds old bytes
	return room, nil
}

// prependCopy writes bytes as they are before those that were written so far.
func prependCopy(b gopacket.SerializeBuffer, data []byte) error {
	room, err := b.PrependBytes(len(data))
	if err != nil {
		return err
	}
	copy(room, data)
	return nil
}

// cut reports whether a layer further out found that the capture lacks bytes of
// the packet. The next layer isn't told, but gopacket's two decoders remember.
func cut(df gopacket.DecodeFeedback) bool {
	switch d := df.(type) {
	case *gopacket.DecodingLayerParser:
		return d.Truncated
	case gopacket.Packet:
		return d.Metadata().Truncated
	}
	return false
}

// payloadOrEnd is the next layer type of a header that decides nothing.
func payloadOrEnd(payload []byte) gopacket.LayerType {
	if len(payload) == 0 {
		return gopacket.LayerTypeZero
	}
	return gopacket.LayerTypePayload
}
