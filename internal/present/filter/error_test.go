package filter

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct {
		src string
		at  string // the marked part; "" is the place before the first "|" or the end
		msg string
	}{
		{"infiniband.bth.psnn", "infiniband.bth.psnn", "infiniband.bth.psnn: no such field; did you mean infiniband.bth.psn?"},
		{"udp.dstport == udp.srcprt", "udp.srcprt", "udp.srcprt: no such field; did you mean udp.srcport?"},
		{"zzzzzzzzzzzz.q == 1", "zzzzzzzzzzzz.q", "zzzzzzzzzzzz.q: no such field; `rocecap fields` lists them"},
		{"infiniband.bth.psn == abc", "abc", `"abc" is not a valid number`},
		{`infiniband.bth.psn == "abc"`, `"abc"`, `unsigned integer cannot be converted from a string ("abc")`},
		{"infiniband.bth.psn == 0x1ffffffff", "0x1ffffffff", `"0x1ffffffff" too big for this field, maximum 16777215`},
		{"udp.dstport in {1..5000, 70000}", "70000", `"70000" too big for this field, maximum 65535`},
		{"udp.port == 65536", "65536", `"65536" too big for this field, maximum 65535`},
		{"udp.port == 99999999999999999999", "99999999999999999999", `"99999999999999999999" causes an integer overflow`},
		{"udp.port == -1", "-1", `"-1" too small for this field, minimum 0`},
		{"udp.port == 1.5", "1.5", `"1.5" is not a valid number`},
		{"udp.port == 08", "08", `"08" is not a valid number`},
		{`infiniband.bth.opcode == "Nonsense"`, `"Nonsense"`, `"Nonsense" cannot be found among the possible values for infiniband.bth.opcode`},
		{"infiniband.bth.a == yes", "yes", `"yes" cannot be found among the possible values for infiniband.bth.a`},
		{"ip.src == 10.77.0", "10.77.0", `"10.77.0" is not a valid IPv4 address`},
		{"ip.src == 10.77.0.2/33", "10.77.0.2/33", "prefix length of an IPv4 address should be <= 32, not 33"},
		{"ipv6.src == fe80::1/129", "fe80::1/129", "prefix length of an IPv6 address should be <= 128, not 129"},
		{"ipv6.src == 1.2.3.4", "1.2.3.4", `"1.2.3.4" is not a valid IPv6 address`},
		{"eth.src == 00:11:22", "00:11:22", `"00:11:22" contains too few bytes to be a valid Ethernet or other MAC address`},
		{"eth.src == 0:1:2:3:4:5:6", "0:1:2:3:4:5:6", `"0:1:2:3:4:5:6" contains too many bytes to be a valid Ethernet or other MAC address`},
		{"frame contains 0x6162", "0x6162", `"0x6162" is not a valid byte string`},
		{"frame.time > 1767322245", "1767322245", `"1767322245" is not a valid absolute time; write it as "2026-01-02 03:04:05.123456"`},
		{"frame.time_delta > 5s", "5s", `"5s" is not a valid time`},
		{"ip.src == udp.port", "udp.port", "ip.src (IPv4 address) and udp.port (unsigned integer) are not of compatible types"},
		{"1 == ip.ttl", "1", `left side of "==" expression must be a field or function`},
		{"ip.ttl == 64 == 64", "64", `left side of "==" expression must be a field or function`},
		{"1 + ip.ttl == 65", "1", "a constant cannot begin an arithmetic expression on the left side"},
		{"infiniband == 1", "infiniband", "infiniband has no value: it can only be tested for existence"},
		{"infiniband.bth.psn[0] == 0", "infiniband.bth.psn", "infiniband.bth.psn (unsigned integer) cannot be sliced into a sequence of bytes"},
		{"frame[0:0] == 00", "0:0", "range 0:0 is not valid: length 0 is not positive"},
		{"frame[5-2] == 00", "5-2", "range 5-2 is not valid: 5 is greater than 2"},
		{"frame[1,x] == 00", "x", `"x" is not a valid range`},
		{"frame[1 == 00", "[1 == 00", "the final bracket was missing from a range"},
		{`ip.src matches "x"`, "ip.src", "ip.src (IPv4 address) cannot participate in a matches comparison"},
		{"infiniband.bth.psn contains 1", "infiniband.bth.psn", "infiniband.bth.psn (unsigned integer) cannot participate in a contains comparison"},
		{"frame matches abc", "abc", "matches requires a double quoted string on the right side"},
		{`frame matches "("`, `"("`, "error parsing regexp: missing closing ): `(?i)(`"},
		{`frame contains "\q"`, `\q`, `\q is not a valid character escape sequence; a raw string r"..." keeps backslashes`},
		{`frame contains "abc`, `"abc`, "the final quote was missing from a quoted string"},
		{"udp.port == 'ab'", "'ab'", "'ab' is not one character"},
		{"infiniband.bth.a & 1", "infiniband.bth.a & 1", `boolean and boolean cannot be operands of "&"`},
		{"nosuch(udp.port) == 1", "nosuch", `function "nosuch" does not exist`},
		{"count(ip.addr)", "count(ip.addr)", "you cannot test whether a function is present; compare its value"},
		{"len() == 1", "len()", "len() needs an argument"},
		{"len(ip.src, ip.dst) == 1", "len(ip.src, ip.dst)", "len() takes one argument, not 2"},
		{"max(1, 2) == 2", "1", "the first argument of max() must be a field"},
		{"upper(udp.port) == \"A\"", "udp.port", "udp.port (unsigned integer) cannot be an argument of upper()"},
		{"ip.src#x", "x", `expected a number or "[" after "#"`},
		{"udp udp", "udp", `"udp" was unexpected in this context`},
		{"udp.port EQ 4791", "EQ", `"EQ" was unexpected in this context`},
		{"frame.number = 1", "=", `"=" was unexpected in this context`},
		{"udp)", ")", `")" was unexpected in this context`},
		{"()", ")", `")" was unexpected in this context`},
		{"== 1", "==", `"==" was unexpected in this context`},
		{"ip.addr in {}", "}", `"}" was unexpected in this context`},
		{"udp.port in 4791", "4791", `"4791" was unexpected in this context`},
		{"(udp", "", "unexpected end of filter expression"},
		{"not infiniband.aeth and", "", "unexpected end of filter expression"},
		{"any udp", "", "unexpected end of filter expression"},
		{strings.Repeat("(", 300) + "udp", "(", "the filter is nested too deeply"},
		{strings.Repeat("!", 300) + "udp", "!", "the filter is nested too deeply"},
	} {
		_, err := Compile(c.src)
		var fault *Error
		if !errors.As(err, &fault) {
			t.Errorf("Compile(%q) = %v, want an *Error", c.src, err)
			continue
		}
		if at := c.src[fault.Pos:fault.End]; at != c.at || fault.Msg != c.msg {
			t.Errorf("Compile(%q):\n got %q marked, %s\nwant %q marked, %s", c.src, at, fault.Msg, c.at, c.msg)
		}
	}
}

func TestErrorMarksTheFaultBelowTheFilter(t *testing.T) {
	for src, want := range map[string]string{
		"ip and udp.prt == 1": "udp.prt: no such field; did you mean udp.port?\n" +
			"    ip and udp.prt == 1\n" +
			"           ^~~~~~~",
		"ip and": "unexpected end of filter expression\n" +
			"    ip and\n" +
			"          ^",
		"frame contains \"é\"\n\tand udp.port == é": "\"é\" is not a valid number\n" +
			"    frame contains \"é\"  and udp.port == é\n" +
			"                                        ^",
	} {
		_, err := Compile(src)
		if err == nil || err.Error() != want {
			t.Errorf("Compile(%q):\n%v\nwant\n%s", src, err, want)
		}
	}
}
