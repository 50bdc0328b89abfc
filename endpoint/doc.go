// Package endpoint is a software RDMA device: queue pairs that talk RoCEv2 to
// real network cards and to other software, from a program's own memory. Names
// are those of verbs.
//
//	dev, err := endpoint.Open(endpoint.Options{
//		Interface: "eth1",
//		Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/24")},
//	})
//	pd := dev.AllocPD()
//	region, err := pd.RegisterMemory(buf, endpoint.LocalWrite|endpoint.RemoteWrite)
//	cq := dev.CreateCQ(256)
//	qp, err := dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: pd, SendCQ: cq, RecvCQ: cq})
//	err = qp.Connect(ctx, endpoint.Remote{QPN: 0x11, PSN: 7, GID: peer})
//	err = qp.PostSend(endpoint.WorkRequest{Op: endpoint.Send, SGL: region.SGL(0, 64)})
//	completion, err := cq.Next(ctx)
//
// A device has a MAC address and IP addresses of its own on a link, answers ARP
// and neighbour discovery for them, and leaves the kernel's network alone. It
// does right by default; a Policy, the hooks and the wrong addresses, keys and
// attributes that one may give make it do wrong.
//
// # Memory
//
// A registered buffer stays the program's, but the device reads and writes it
// at any time between RegisterMemory and Deregister: for a local work request
// from its posting to its completion, for a peer's request whenever one comes.
// The rule is that of verbs: a completion hands the memory that its work
// request names to the program, and so does a completion of a receive with
// everything that the peer has written before. Memory that a peer may write
// without telling cannot be looked at without a race; have it tell.
//
// # Concurrency
//
// All methods may be called from any goroutine. BeforeSend and Trace are called
// while the device is locked: they must not wait, and not call the device.
// AfterReceive may, all but Close.
//
// # Limitations
//
// No path migration, no RoCEv1, no fragments of IP, and no IGMP or MLD for the
// groups that queue pairs are attached to.
package endpoint
