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

// questions are how ethtool(8) asks for each offload.
var questions = [...]struct {
	offload       Offload
	command, mask uint32
}{
	{GRO, unix.ETHTOOL_GGRO, ^uint32(0)},
	{LRO, unix.ETHTOOL_GFLAGS, flagLRO},
	{TSO, unix.ETHTOOL_GTSO, ^uint32(0)},
	{GSO, unix.ETHTOOL_GGSO, ^uint32(0)},
	{RxChecksum, unix.ETHTOOL_GRXCSUM, ^uint32(0)},
	{TxChecksum, unix.ETHTOOL_GTXCSUM, ^uint32(0)},
}

// On lists the offloads that an interface has switched on. One that its driver
// does not know is not.
func On(name string) ([]Offload, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var on []Offload
	for _, q := range questions {
		v := value{command: q.command}
		r := request{data: &v}
		copy(r.name[:unix.IFNAMSIZ-1], name)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r)))
		if errno != 0 && errno != unix.EOPNOTSUPP {
			return nil, errno
		}
		if errno == 0 && v.data&q.mask != 0 {
			on = append(on, q.offload)
		}
	}
	return on, nil
}
