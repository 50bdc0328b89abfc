package endpoint

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/rocecap/rocecap/internal/transport/qp"
	"github.com/rocecap/rocecap/internal/wire"
)

// MulticastQPN is the queue pair number that datagrams to a group go to (IBTA
// 9.2.3).
const MulticastQPN = 0xFFFFFF

var errNoGroup = errors.New("only UD queue pairs can be in a group, and only an address of IP multicast is one")

// AttachMulticast lets a UD queue pair receive what others send to a group. A
// switch that looks for members (IGMP or MLD snooping) is not told: it has to be
// by other means. What the device itself sends to the group does not come back.
func (q *QP) AttachMulticast(group netip.Addr) error {
	group = group.Unmap().WithZone("")
	if q.Type() != UD || !group.IsMulticast() {
		return errNoGroup
	}
	d := q.device
	d.lock()
	defer d.unlock()
	if err := q.usable(); err != nil {
		return err
	}
	if !slices.Contains(d.groups[group], q) {
		d.groups[group] = append(d.groups[group], q)
	}
	return nil
}

// DetachMulticast ends that.
func (q *QP) DetachMulticast(group netip.Addr) error {
	q.device.lock()
	defer q.device.unlock()
	if err := q.usable(); err != nil {
		return err
	}
	q.leave(group.Unmap().WithZone(""))
	return nil
}

func (q *QP) leave(group netip.Addr) {
	groups := q.device.groups
	groups[group] = slices.DeleteFunc(groups[group], func(member *QP) bool { return member == q })
	if len(groups[group]) == 0 {
		delete(groups, group)
	}
}

// deliver gives a datagram to the members of the group that it was sent to.
func (d *Device) deliver(r *receiver, a *arrival) {
	members := d.groups[a.dst]
	bth := a.packet.BTH()
	switch {
	case len(members) == 0:
		d.stats.NotOurs++
		return
	case bth.DestQP() != MulticastQPN:
		d.stats.UnknownQP++
		return
	case a.packet.Opcode()&serviceMask != wire.BaseUD:
		d.stats.WrongService++
		return
	}
	d.stats.ReceivedPackets++
	for _, q := range members {
		if samePartition(bth.PKey(), q.pkey) {
			q.engine.Receive(d.now, qp.Inbound{Packet: a.packet, CE: a.ce, GRH: r.area(a.ip)})
			d.ready(q)
		}
	}
}
