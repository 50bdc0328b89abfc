package live

import "strings"

// helpText lists the keys; a line that begins with a space is a key's.
var helpText = []string{
	"The table: a row for what each end of a conversation sends, as far as it goes on",
	" ↑ ↓ PgUp PgDn Home End  move the cursor, also k j g G and the mouse",
	" < >                     sort by the column at the left or right; s does as >",
	" r                       the other way round",
	" # V F                   sort by number, service, names",
	" B P M                   by bit/s, packets/s, messages/s",
	" 5 9                     by the 50th or 99th percentile of the latency",
	" A N R C E I             by packets sent again, NAKs, RNR NAKs, CNPs, CE marks, wrong ICRCs",
	" t                       counts of the last interval, or all",
	" Enter                   all that is known of a row",
	"",
	"The events: what was found, ! warnings and X errors, the newest at the end",
	" Tab                     move the cursor there, and back",
	" Enter                   all that is known of the row that it is about",
	"",
	"A row's detail",
	" 1 2 3 4 Tab             its pages: overview, packets, analysis so far, connection",
	" ← →                     the row before, or behind, in the table",
	" Esc                     back to the table",
	"",
	"Anywhere",
	" p Space                 pause the display; packets are followed on",
	" /                       follow only packets that match a filter, in tshark's syntax",
	" w                       write the packets of the last while to a file, those that match the filter",
	" Ctrl-L Ctrl-Z           draw anew; suspend",
	" q Ctrl-C                end",
	"",
	"p50 and p99 are from a message's first packet to the last of its answer, over the last",
	"interval in which some ended. A count is coloured when it grew in the last interval.",
	"Columns that find no room are left out, those without anything to show first.",
}

// helpKeys is how wide the keys are.
const helpKeys = 25

// help is the page that lists the keys.
func (m *Model) help(height int) (lines []string) {
	for _, text := range helpText {
		switch {
		case strings.HasPrefix(text, " "):
			key, what := string([]rune(text)[:helpKeys]), string([]rune(text)[helpKeys:])
			room := m.width - helpKeys
			if room < helpKeys {
				lines = append(lines, m.colours.accent.Render(strings.TrimRight(key, " "))+" "+what)
				continue
			}
			for i, line := range wrap(what, room) {
				if i > 0 {
					key = strings.Repeat(" ", helpKeys)
				}
				lines = append(lines, m.colours.accent.Render(key)+line)
			}
		case text == "":
			lines = append(lines, "")
		default:
			for _, line := range wrap(text, m.width) {
				lines = append(lines, m.colours.strong.Render(line))
			}
		}
	}
	m.helpTop = max(0, min(m.helpTop, len(lines)-height))
	return lines[m.helpTop:min(len(lines), m.helpTop+height)]
}
