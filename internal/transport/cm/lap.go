package cm

import "github.com/rocecap/rocecap/internal/wire"

// aprUnsupported says that there are no alternate paths (Linux enum
// ib_cm_apr_status).
const aprUnsupported = 2

// receiveLAP refuses an alternate path.
func (m *Manager) receiveLAP(in message) Outcome {
	lap := wire.CMLap(in.body)
	c := m.find(lap.RemoteCommID(), lap.LocalCommID())
	if c == nil || c.state != established || m.IgnoreLAP {
		return Ignored
	}
	apr := wire.CMApr(m.answer(in.from, in.tid, wire.CMAttrApr))
	if apr == nil {
		return Ignored
	}
	apr.SetLocalCommID(uint32(c.id))
	apr.SetRemoteCommID(c.remote.number)
	apr.SetStatus(aprUnsupported)
	return Handled
}
