package offload

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// flagLRO is ETH_FLAG_LRO of linux/ethtool.h.
const flagLRO = 1 << 15

// value is struct ethtool_value of linux/ethtool.h.
type value struct{ command, data uint32 }

// request is struct ifreq of linux/if.h, with a pointer in its union.
type request struct {
	name [unix.IFNAMSIZ]byte
	data *value
	_    [16]byte
}

// Merging lists which of "gro" and "lro" an interface has switched on.
func Merging(name string) ([]string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var on []string
	for _, q := range [...]struct {
		name          string
		command, mask uint32
	}{{"gro", unix.ETHTOOL_GGRO, ^uint32(0)}, {"lro", unix.ETHTOOL_GFLAGS, flagLRO}} {
		v := value{command: q.command}
		r := request{data: &v}
		copy(r.name[:unix.IFNAMSIZ-1], name)
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r))); errno != 0 {
			return nil, errno
		}
		if v.data&q.mask != 0 {
			on = append(on, q.name)
		}
	}
	return on, nil
}
