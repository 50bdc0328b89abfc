package analysis

import (
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
)

// pauseStalls are the findings on flow control that cost most.
func pauseStalls() []Code {
	return []Code{
		{
			"PFC-STORM", pause.Storm, Warning, "a pause went on for 200 ms or more",
			"the receive buffers and PCIe of the device that sends the pauses, and the switch's PFC watchdog",
			"One sender paused a priority of its peer, or with PAUSE all of it, again and again without a break for 200 ms, as long as the PFC watchdogs of switches wait by default. It shows in the packet that begins it. How long a pause lasts depends on --link-speed.",
			"A device that cannot empty its receive buffers: slow memory or PCIe, a host that hangs, a faulty adapter; pauses that go in a circle.",
		},
		{
			"STALL-PAUSED", conversation.StallPaused, Warning, "nothing came for long, while flow control paused something",
			"the part on flow control: who pauses whom, and for how long",
			"A message was outstanding and neither requests nor answers came for 100 us at least and for longer than answers take; at least half of that time flow control had paused something on one of the captured links. The packets of the two have nothing in common that tells whether it was this link and this priority.",
			"Congestion behind the device that sends the pauses. Or chance: two things at the same time.",
		},
	}
}

// congestion are the findings on marks, notifications and pauses.
func congestion() []Code {
	return []Code{
		{
			"CE-UNANSWERED", conversation.CEUnanswered, Warning, "packets were marked for congestion, and no CNP answers",
			"whether the receiver has DCQCN (ECN) switched on for the traffic's priority; how CNPs are routed",
			"No congestion notification packet for this queue pair came within a millisecond and an answer's time behind a marked packet, nor so shortly before that receivers leave out the next, although the capture has other packets of the receiver. It is told once until a CNP comes. Where one direction of the conversation was captured alone, it is told at its end, if no CNP came at all and other packets to the sender's address were captured. The sender does not learn that it has to slow down.",
			"Congestion control that is off at the receiver, or that the device does not have (Linux rxe has none); a device that notifies by address or port and not by queue pair; CNPs that are lost, or not captured.",
		},
		{
			"CNP-UNMARKED", conversation.CNPUnmarked, Warning, "a CNP came without a marked packet before",
			"whether all packets to the receiver pass the capture point, and behind which switch it is",
			"A congestion notification packet came although the last marked packet of the conversation is more than a millisecond and an answer's time old; the sender slows down all the same. CNPs before the first marked packet are counted and are no finding: where no packet is marked, the capture point lies in front of the switch that marks.",
			"Packets that are marked behind the capture point; some adapters send a CNP with a NAK; a device that notifies by address or port; a spoofed CNP.",
		},
		{
			"PAUSE-PLAIN", pause.Plain, Warning, "PAUSE frames stopped all that a peer sends",
			"the flow control settings of the port: PFC and PAUSE exclude each other",
			"An IEEE 802.3 PAUSE frame stops all priorities of a link: RoCE and everything else, CNPs too. Each is counted that begins a pause.",
			"Global flow control that is on by default; a lossless class that was set up on one side of the link only.",
		},
		{
			"PFC-PAUSE", pause.Paused, Warning, "PFC frames paused a priority",
			"the part on flow control: how much of the time, and whether ECN marks come before",
			"Priority-based flow control stopped the peer of a sender. That is how a lossless class avoids loss, and whatever waits waits for no longer than the pause; where it comes often, congestion control comes too late. Each frame is counted that begins a pause.",
			"Congestion: a receiver, or a switch on the way to it, whose buffers fill. ECN thresholds above those of PFC.",
		},
		{
			"PFC-INVALID", pause.Odd, Warning, "flow control frames are not as the standards want them",
			"the frame, with rocecap decode -V",
			"A PFC frame goes to 01:80:c2:00:00:01, names at least one priority, and has no other bits in the vector; a PAUSE goes there or to a station's own address. What such a frame says is followed all the same.",
			"A generator, or a faulty device.",
		},
	}
}
