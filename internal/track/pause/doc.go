// Package pause follows Ethernet flow control: PAUSE frames (IEEE 802.3, annex
// 31B), which stop all that a peer sends, and PFC frames (IEEE 802.1Q, clause 36;
// the frame is in IEEE 802.3, annex 31D), which stop it by priority.
//
// A frame names a time in quanta of 512 bit times, so that how long it is depends
// on the speed of the link, which no capture tells: the Tracker has to be told.
// What ends by a frame, the time from XOFF to XON, needs no speed and is counted
// beside it.
//
// A frame that goes on with a pause sets its end anew, later or earlier, as the
// receiver's timer is set (31B.3.2). Nothing is known of how long the receiver
// takes to obey.
package pause
