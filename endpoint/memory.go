package endpoint

import (
	"unsafe"

	"github.com/rocecap/rocecap/internal/transport/mr"
)

// PD is a protection domain: what is in one cannot be used with what is in
// another.
type PD struct {
	device *Device
	id     mr.PD
}

// AllocPD makes a protection domain.
func (d *Device) AllocPD() *PD {
	d.lock()
	defer d.unlock()
	return &PD{d, d.memory.AllocPD()}
}

// Dealloc ends a domain that nothing uses any more.
func (p *PD) Dealloc() error {
	p.device.lock()
	defer p.device.unlock()
	return p.device.memory.DeallocPD(p.id)
}

// Region is a memory region.
type Region struct {
	device *Device
	region *mr.Region
	mem    []byte
}

// RegisterMemory registers a buffer under the address that it has in this
// program.
func (p *PD) RegisterMemory(buf []byte, access Access) (*Region, error) {
	return p.RegisterMemoryAt(buf, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))), access)
}

// RegisterMemoryAt registers a buffer under an address of choice.
func (p *PD) RegisterMemoryAt(buf []byte, va uint64, access Access) (*Region, error) {
	p.device.lock()
	defer p.device.unlock()
	r, err := p.device.memory.Register(p.id, buf, va, access)
	if err != nil {
		return nil, err
	}
	return &Region{p.device, r, buf}, nil
}

// LKey is the key for local work requests.
func (r *Region) LKey() uint32 { return r.region.LKey() }

// RKey is the key for peers.
func (r *Region) RKey() uint32 { return r.region.RKey() }

// VA is the address of the first byte.
func (r *Region) VA() uint64 { return r.region.VA() }

// Len is the length in bytes.
func (r *Region) Len() int { return r.region.Len() }

// SGE names a part of the region. That it lies within is checked when it is used.
func (r *Region) SGE(offset, length int) SGE {
	return SGE{Addr: r.VA() + uint64(offset), Length: uint32(length), LKey: r.LKey()}
}

// SGL is SGE as the list that a work request has.
func (r *Region) SGL(offset, length int) []SGE { return []SGE{r.SGE(offset, length)} }

// Read copies bytes of the region, from an offset on, between two packets: the way
// to look at memory that a peer may be writing. It returns how many there were.
func (r *Region) Read(p []byte, offset int) int {
	r.device.mu.Lock()
	defer r.device.mu.Unlock()
	if offset < 0 || offset > len(r.mem) {
		return 0
	}
	return copy(p, r.mem[offset:])
}

// Deregister takes the memory back from the device.
func (r *Region) Deregister() error {
	r.device.lock()
	defer r.device.unlock()
	return r.device.memory.Deregister(r.region)
}

// Window is a memory window.
type Window struct {
	device *Device
	window *mr.Window
}

// AllocWindow makes a memory window; the work request BindMW gives it memory.
func (p *PD) AllocWindow(typ WindowType) (*Window, error) {
	p.device.lock()
	defer p.device.unlock()
	w, err := p.device.memory.AllocWindow(p.id, typ)
	if err != nil {
		return nil, err
	}
	return &Window{p.device, w}, nil
}

// RKey is the window's present key.
func (w *Window) RKey() uint32 {
	w.device.lock()
	defer w.device.unlock()
	return w.window.RKey()
}

// Bind describes the window's binding to a part of a region, for a work
// request. The new key counts for windows of type 2.
func (w *Window) Bind(r *Region, va, length uint64, newRKey uint32, access Access) Bind {
	return Bind{Window: w.window, Region: r.region, Addr: va, Length: length, NewRKey: newRKey, Access: access}
}

// Free ends the window.
func (w *Window) Free() error {
	w.device.lock()
	defer w.device.unlock()
	return w.device.memory.FreeWindow(w.window)
}
