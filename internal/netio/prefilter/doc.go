// Package prefilter makes the programs by which the kernel decides, before it
// copies anything, which frames a capture gets: classic BPF (bpf(4) of BSD,
// networking/filter in the kernel's documentation). RDMA passes RDMA traffic;
// Compile asks an installed tcpdump about an expression of a user.
package prefilter
