// Package tsharkdiff compares what rocecap and tshark say about the same
// captures, field by field. It has tests only.
package tsharkdiff
