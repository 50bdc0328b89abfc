// Package offload asks which of an interface's offloads put several received
// frames together into one, so that what this machine sees is not what was on
// the wire.
package offload
