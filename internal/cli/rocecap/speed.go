package rocecap

import (
	"errors"
	"strconv"
	"strings"
)

// maxSpeed is beyond what any link has, in bit/s.
const maxSpeed = 1e15

// linkSpeed is a flag for the speed of links, in bit/s.
type linkSpeed int64

// String writes the speed as Set reads it.
func (s *linkSpeed) String() string {
	value, unit := int64(*s), ""
	for _, larger := range []string{"K", "M", "G", "T"} {
		if value == 0 || value%1000 != 0 {
			break
		}
		value, unit = value/1000, larger
	}
	return strconv.FormatInt(value, 10) + unit
}

// Set reads a speed, such as 25G.
func (s *linkSpeed) Set(text string) error {
	scale, number := 1.0, strings.ToUpper(text)
	for i, unit := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number = rest
			for range i + 1 {
				scale *= 1000
			}
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !(value*scale >= 1 && value*scale <= maxSpeed) {
		return errors.New("want bit/s, such as 25G or 100G")
	}
	*s = linkSpeed(value * scale)
	return nil
}

// Type names the value in the help.
func (s *linkSpeed) Type() string { return "BIT/S" }
