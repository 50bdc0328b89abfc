package analysis

import (
	"github.com/rocecap/rocecap/internal/track/survey"
)

// versionCodes are the findings on the versions of RoCE.
func versionCodes() []Code {
	return []Code{
		{
			"ROCE-VERSIONS",
			survey.VersionMismatch{},
			Error, "two stations send different versions of RoCE to each other",
			"the GID index, and the type of that GID, that each of the two programs uses",
			"All that one station sends to the other is RoCEv1 (Ethertype 0x8915), and all that comes back is RoCEv2 (UDP port 4791). A queue pair takes packets of the version of its own GID alone, so that nothing is answered, and the requesters try again until they give up.",
			"A GID index that is of another type on the other host, or a default of a program or of rdma_cm that differs between them.",
		},
	}
}

func mismatchRoute(m *survey.Mismatch) string {
	return m.V1.String() + " sends RoCEv1, and " + m.V2.String() + " RoCEv2"
}

func (r *Report) versionFindings() (all []Finding) {
	for i := range r.mismatches {
		m := &r.mismatches[i]
		all = append(all, Finding{Code: CodeOf(survey.VersionMismatch{}), Tally: m.Tally, Where: mismatchRoute(m)})
	}
	return all
}

// AddMismatches takes the stations that send different versions of RoCE.
func (l *Events) AddMismatches(list []survey.Mismatch) {
	l.mismatches = list
}

// ofVersions says what begins to be wrong with a packet.
func (l *Events) ofVersions(packet int) (lines []string) {
	for i := range l.mismatches {
		if m := &l.mismatches[i]; m.First()[0] == packet {
			code := CodeOf(survey.VersionMismatch{})
			lines = append(lines, code.Name+": "+code.Title+" ("+mismatchRoute(m)+")")
		}
	}
	return lines
}
