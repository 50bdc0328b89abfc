// Package lab gives tests real RDMA peers: small virtual machines in which the
// Linux kernel's soft RoCE and soft iWARP speak, on a bridge in a network
// namespace of their own. The script peerlab in this folder makes and runs them;
// README.md tells how to use both.
//
// A package with lab tests has
//
//	func TestMain(m *testing.M) { lab.Main(m) }
//
// and names its lab tests TestLab...; each asks for its guests with Up. They run
// when ROCE_LAB=1 is set, as make test-lab does, and are skipped otherwise.
package lab
