package filter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is the kind of a token. Words of the language ("and", "eq") have the
// kind of the symbol that they stand for.
type kind uint8

const (
	tokEnd    kind = iota
	tokWord        // field name, function name, unquoted literal
	tokString      // text holds the value, escapes resolved
	tokChar        // text holds the one byte
	tokRanges      // text holds what stands between [ and ]

	tokLayer // #
	tokOpen  // (
	tokClose // )
	tokLeft  // {
	tokRight // }
	tokComma
	tokTo // ..

	tokOr
	tokXor
	tokAnd
	tokNot

	tokEq    // == eq any_eq
	tokNe    // != ne all_ne
	tokAllEq // === all_eq
	tokAnyNe // !== ~= any_ne
	tokGt
	tokGe
	tokLt
	tokLe
	tokContains
	tokMatches
	tokIn
	tokAny
	tokAll

	tokBitAnd
	tokPlus
	tokMinus
	tokStar
	tokSlash
	tokPercent
)

type token struct {
	region
	kind kind
	text string
}

// symbols are the tokens made of punctuation, the longest of those with a
// common beginning first.
var symbols = [...]struct {
	text string
	kind kind
}{
	{"===", tokAllEq},
	{"==", tokEq},
	{"!==", tokAnyNe},
	{"!=", tokNe},
	{"!", tokNot},
	{"~=", tokAnyNe},
	{"~", tokMatches},
	{">=", tokGe},
	{">", tokGt},
	{"<=", tokLe},
	{"<", tokLt},
	{"&&", tokAnd},
	{"&", tokBitAnd},
	{"||", tokOr},
	{"^^", tokXor},
	{"(", tokOpen},
	{")", tokClose},
	{"{", tokLeft},
	{"}", tokRight},
	{",", tokComma},
	{"..", tokTo},
	{"#", tokLayer},
	{"+", tokPlus},
	{"-", tokMinus},
	{"*", tokStar},
	{"/", tokSlash},
	{"%", tokPercent},
}

// keyword returns the kind of a word of the language; tshark knows them in
// lower case only.
func keyword(word string) (kind, bool) {
	switch word {
	case "or":
		return tokOr, true
	case "xor":
		return tokXor, true
	case "and":
		return tokAnd, true
	case "not":
		return tokNot, true
	case "eq", "any_eq":
		return tokEq, true
	case "ne", "all_ne":
		return tokNe, true
	case "all_eq":
		return tokAllEq, true
	case "any_ne":
		return tokAnyNe, true
	case "gt":
		return tokGt, true
	case "ge":
		return tokGe, true
	case "lt":
		return tokLt, true
	case "le":
		return tokLe, true
	case "contains":
		return tokContains, true
	case "matches":
		return tokMatches, true
	case "in":
		return tokIn, true
	case "any":
		return tokAny, true
	case "all":
		return tokAll, true
	case "bitwise_and":
		return tokBitAnd, true
	}
	return tokWord, false
}

// lex cuts the source into tokens; the last is tokEnd.
func lex(src string) ([]token, *fault) {
	l := lexer{src: src}
	var tokens []token
	for {
		t, fault := l.next()
		if fault != nil {
			return nil, fault
		}
		tokens = append(tokens, t)
		if t.kind == tokEnd {
			return tokens, nil
		}
	}
}

type lexer struct {
	src string
	pos int
}

func (l *lexer) next() (token, *fault) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.pos]) >= 0 {
		l.pos++
	}
	rest := l.src[l.pos:]
	switch {
	case rest == "":
		return token{region: region{l.pos, l.pos}}, nil
	case rest[0] == '"':
		return l.quoted(1, false)
	case strings.HasPrefix(rest, `r"`) || strings.HasPrefix(rest, `R"`):
		return l.quoted(2, true)
	case rest[0] == '\'':
		return l.char()
	case rest[0] == '[':
		return l.ranges()
	}
	if n := wordLen(rest); n > 0 {
		t := l.take(tokWord, n)
		t.kind, _ = keyword(t.text)
		return t, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s.text) {
			return l.take(s.kind, len(s.text)), nil
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	at := region{l.pos, l.pos + size}
	return token{}, at.fault("%s was unexpected in this context", strconv.Quote(rest[:size]))
}

func (l *lexer) take(k kind, n int) token {
	t := token{region: region{l.pos, l.pos + n}, kind: k, text: l.src[l.pos : l.pos+n]}
	l.pos += n
	return t
}

// wordLen returns the length of the word that s begins with. A word may hold
// the ".", ":" and "-" of names, numbers, addresses and byte strings, but not
// "..", and may end in the prefix length of an address.
func wordLen(s string) int {
	n := 0
	for n < len(s) && wordByte(s[n]) && !strings.HasPrefix(s[n:], "..") {
		n++
	}
	switch {
	case n == 0 || s[0] == '-' || s == ".":
		return 0
	case n < len(s) && s[n] == '/' && looksLikeAddress(s[:n]):
		if d := digits(s[n+1:]); d > 0 {
			return n + 1 + d
		}
	}
	return n
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) ||
		c == '_' || c == '.' || c == ':' || c == '-' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func looksLikeAddress(s string) bool {
	if strings.Trim(s, "0123456789abcdefABCDEF.:") != "" {
		return false
	}
	return strings.Count(s, ".") == 3 || strings.Contains(s, ":")
}

// quoted reads a string whose text begins open bytes further on.
func (l *lexer) quoted(open int, raw bool) (token, *fault) {
	start := l.pos
	var text []byte
	for i := start + open; i < len(l.src); {
		switch c := l.src[i]; {
		case c == '"':
			l.pos = i + 1
			return token{region: region{start, i + 1}, kind: tokString, text: string(text)}, nil
		case c == '\\' && raw:
			n := min(2, len(l.src)-i) // \" does not end the string, and stays as it is
			text = append(text, l.src[i:i+n]...)
			i += n
		case c == '\\':
			value, n, fault := escape(l.src, i)
			if fault != nil {
				return token{}, fault
			}
			text = append(text, value...)
			i += n
		default:
			text = append(text, c)
			i++
		}
	}
	return token{}, region{start, len(l.src)}.fault("the final quote was missing from a quoted string")
}

func (l *lexer) char() (token, *fault) {
	start := l.pos
	var text []byte
	for i := start + 1; i < len(l.src); {
		switch c := l.src[i]; c {
		case '\'':
			at := region{start, i + 1}
			if len(text) != 1 {
				return token{}, at.fault("%s is not one character", l.src[start:i+1])
			}
			l.pos = i + 1
			return token{region: at, kind: tokChar, text: string(text)}, nil
		case '\\':
			value, n, fault := escape(l.src, i)
			if fault != nil {
				return token{}, fault
			}
			text = append(text, value...)
			i += n
		default:
			text = append(text, c)
			i++
		}
	}
	return token{}, region{start, len(l.src)}.fault("the final quote was missing from a character constant")
}

// escape resolves the escape sequence at src[i:] and returns its value and its
// length.
func escape(src string, i int) (string, int, *fault) {
	if i+1 == len(src) {
		return "", 0, region{i, i + 1}.fault("the final quote was missing from a quoted string")
	}
	c := src[i+1]
	const single, value = `'"\abfnrtv`, "'\"\\\a\b\f\n\r\t\v"
	if k := strings.IndexByte(single, c); k >= 0 {
		return value[k : k+1], 2, nil
	}
	switch c {
	case 'x':
		return numeric(src, i, 2, 1, 2, 16)
	case 'u':
		return numeric(src, i, 2, 4, 4, 16)
	case 'U':
		return numeric(src, i, 2, 8, 8, 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return numeric(src, i, 1, 1, 3, 8)
	}
	_, size := utf8.DecodeRuneInString(src[i+1:])
	bad := src[i : i+1+size]
	return "", 0, region{i, i + 1 + size}.fault(`%s is not a valid character escape sequence; a raw string r"..." keeps backslashes`, bad)
}

// numeric reads least to most digits of an escape sequence at src[i:], skip
// bytes after its backslash's place. Sequences of four and eight digits are
// code points, shorter ones bytes.
func numeric(src string, i, skip, least, most, base int) (string, int, *fault) {
	n := 0
	for n < most && i+skip+n < len(src) {
		if _, err := strconv.ParseUint(src[i+skip+n:i+skip+n+1], base, 8); err != nil {
			break
		}
		n++
	}
	end := i + skip + n
	v, err := strconv.ParseUint(src[i+skip:end], base, 32)
	switch {
	case n < least || err != nil:
	case least > 1 && v <= utf8.MaxRune && utf8.ValidRune(rune(v)):
		return string(rune(v)), skip + n, nil
	case least == 1 && v <= 0xff:
		return string([]byte{byte(v)}), skip + n, nil
	}
	return "", 0, region{i, end}.fault("%s is not a valid character escape sequence", src[i:end])
}

func (l *lexer) ranges() (token, *fault) {
	n := strings.IndexByte(l.src[l.pos:], ']')
	if n < 0 {
		return token{}, region{l.pos, len(l.src)}.fault("the final bracket was missing from a range")
	}
	t := l.take(tokRanges, n+1)
	t.text = t.text[1:n]
	return t, nil
}
