package roceinject_test

import (
	"testing"

	"github.com/rocecap/rocecap/lab"
)

// TestMain lets this package have lab tests (TestLab...).
func TestMain(m *testing.M) { lab.Main(m) }
