package nic

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestErrorsNameWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		errno unix.Errno
		want  error
	}{
		{unix.EPERM, ErrPermission},
		{unix.EACCES, ErrPermission},
		{unix.ENETDOWN, ErrDown},
		{unix.ENXIO, ErrGone},
		{unix.ENODEV, ErrGone},
		{unix.EINVAL, unix.EINVAL},
	} {
		if err := openError(c.errno); !errors.Is(err, c.want) {
			t.Errorf("%v became %v, want %v", c.errno, err, c.want)
		}
	}
	if text := openError(unix.EPERM).Error(); !strings.Contains(text, "needs CAP_NET_RAW") {
		t.Errorf("%q does not name the capability", text)
	}
}
