package rocecap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/testneed"
)

// cable is where frames are sent at one end and recorded at the other.
type cable struct {
	t           *testing.T
	left, right *nettest.Namespace
	link        *nic.Link
	writer      nic.Writer
}

func newCable(t *testing.T) *cable {
	t.Helper()
	c := &cable{t: t}
	c.left, c.right = nettest.Pair(t)
	c.right.Do(t, func() {
		var err error
		if c.link, err = nic.Open(nic.Options{Interface: nettest.RightInterface, SendOnly: true}); err != nil {
			t.Fatal(err)
		}
		if c.writer, err = c.link.Writer(); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { c.link.Close() })
	return c
}

// send sends frames.
func (c *cable) send(frames ...[]byte) {
	c.t.Helper()
	for _, f := range frames {
		place, err := c.writer.Reserve(time.Time{})
		if err != nil {
			c.t.Fatal(err)
		}
		if err := c.writer.Commit(copy(place, f)); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := c.writer.Flush(time.Time{}); err != nil {
		c.t.Fatal(err)
	}
}

// waiter closes a channel when a text has been written to it.
type waiter struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan struct{}
	once sync.Once
}

func newWaiter(want string) *waiter { return &waiter{want: want, seen: make(chan struct{})} }

func (w *waiter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if strings.Contains(w.text.String(), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

func (w *waiter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// record runs `rocecap record` at the left end, and the function when it is
// ready.
func (c *cable) record(then func(), args ...string) result {
	c.t.Helper()
	ready := newWaiter("recording ")
	var code int
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.left.Do(c.t, func() {
			code = rocecap.Main(append([]string{"record", "-i", nettest.LeftInterface}, args...), rocecap.Streams{Out: io.Discard, Err: ready})
		})
	}()
	select {
	case <-ready.seen:
		then()
		<-done
	case <-done:
	}
	return result{err: ready.String(), code: code}
}

// recorded reads what was recorded.
func recorded(t *testing.T, name string) (frames [][]byte, interfaces []capfile.Interface) {
	t.Helper()
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames, r.Interfaces()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return frames, r.Interfaces()
		}
		for i := range b.Records {
			frames = append(frames, bytes.Clone(b.Records[i].Data))
		}
		b.Release()
	}
}

// frames are those of a capture of ours.
func frames(t *testing.T, name string) [][]byte {
	t.Helper()
	list, _ := recorded(t, pcaps(t, name))
	return list
}

func wantFrames(t *testing.T, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("frame %d is\n%x, want\n%x", i, got[i], want[i])
		}
	}
}

func TestRecordWritesRDMAAndNothingElse(t *testing.T) {
	c := newCable(t)
	sent := frames(t, "rping_rxe.pcap")
	arp := append(bytes.Repeat([]byte{0xFF}, 6), append(make([]byte, 6), 8, 6)...)
	for _, name := range []string{"x.pcapng", "x.pcap", "x.pcapng.zst", "x.pcapng.gz"} {
		file := filepath.Join(t.TempDir(), name)
		r := c.record(func() {
			for _, f := range sent {
				c.send(append(arp, make([]byte, 46)...), f)
			}
		}, "-w", file, "-c", fmt.Sprint(len(sent)))
		if r.code != 0 || !strings.Contains(r.err, fmt.Sprintf("%d packets written, ", len(sent))) || !strings.Contains(r.err, " 0 dropped by the kernel, 0 by the interface\n") {
			t.Errorf("%s: %+v", name, r)
		}
		got, interfaces := recorded(t, file)
		wantFrames(t, got, sent)
		if s := interfaces[0].Stats; strings.HasPrefix(name, "x.pcapng") && (int(s.Received.N) < len(sent) || int(s.Accepted.N) < len(sent) ||
			s.OSDropped != capfile.Count(0) || s.Dropped != capfile.Count(0)) {
			t.Errorf("%s: interface %+v", name, interfaces[0])
		}
	}
}

func TestRecordSaysWhenAnInterfaceStampsNoFrames(t *testing.T) {
	c := newCable(t)
	for _, flags := range [][]string{nil, {"--hardware-time"}} {
		r := c.record(func() {}, append(flags, "-w", filepath.Join(t.TempDir(), "x.pcapng"), "-a", "10ms")...)
		const want = "interface left0 stamps no frames: their times are the kernel's"
		if r.code != 0 || strings.Contains(r.err, want) != (flags != nil) {
			t.Errorf("%v: %+v", flags, r)
		}
	}
}

// TestRecordAndLiveLoseNothingOfABurst sends frames as fast as it can, as many as
// the ring has room for: whatever else the machine does, none may be lost.
func TestRecordAndLiveLoseNothingOfABurst(t *testing.T) {
	const burst = 200_000
	c := newCable(t)
	frame := frames(t, "rping_rxe.pcap")[10]
	send := func() {
		for range burst / 100 {
			c.send(slices.Repeat([][]byte{frame}, 100)...)
		}
	}
	file := filepath.Join(t.TempDir(), "x.pcapng")
	r := c.record(send, "-w", file, "-c", fmt.Sprint(burst))
	if r.code != 0 || !strings.Contains(r.err, fmt.Sprintf("%d packets written, %d received by the filter, 0 dropped", burst, burst)) {
		t.Errorf("%+v", r)
	}
	if got, _ := recorded(t, file); len(got) != burst {
		t.Errorf("%d frames in the file, want %d", len(got), burst)
	}
	out, code := c.live(func(string) { send() }, "watching", "--plain", "-a", "8s")
	if code != 0 || !strings.Contains(out, fmt.Sprintf("%d packets followed, %d received by the filter, 0 dropped", burst, burst)) {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestRecordGoesOnInAnotherFile(t *testing.T) {
	c := newCable(t)
	sent, dir := frames(t, "rping_rxe.pcap")[:35], t.TempDir()
	r := c.record(func() { c.send(sent...) }, "-w", filepath.Join(dir, "x.pcapng"), "-c", "35", "-b", "packets:10", "-b", "files:2")
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	names, err := filepath.Glob(filepath.Join(dir, "x_0000*_*.pcapng"))
	if err != nil || len(names) != 2 {
		t.Fatalf("files %v, %v", names, err)
	}
	for i, want := range [][][]byte{sent[20:30], sent[30:]} {
		got, _ := recorded(t, names[i])
		wantFrames(t, got, want)
	}
}

func TestRecordCutsToTheSnapLength(t *testing.T) {
	c := newCable(t)
	sent := frames(t, "rping_rxe.pcap")
	file := filepath.Join(t.TempDir(), "x.pcapng")
	if r := c.record(func() { c.send(sent...) }, "-w", file, "-c", fmt.Sprint(len(sent)), "-s", "80"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	got, _ := recorded(t, file)
	for i := range got {
		if want := sent[i][:min(80, len(sent[i]))]; !bytes.Equal(got[i], want) {
			t.Fatalf("frame %d is\n%x, want\n%x", i, got[i], want)
		}
	}
}

func TestRecordAroundAFinding(t *testing.T) {
	c := newCable(t)
	fine, refused := frames(t, "rc_pingpong.pcap")[:40], frames(t, "py_badrkey.pcap")
	dir := t.TempDir()
	nothing, some := filepath.Join(dir, "nothing.pcapng"), filepath.Join(dir, "some.pcapng")
	r := c.record(func() { c.send(fine...) }, "-w", nothing, "--trigger", "nak", "-a", "500ms")
	if got, _ := recorded(t, nothing); r.code != 0 || len(got) != 0 {
		t.Errorf("without a finding %d packets are written: %+v", len(got), r)
	}
	r = c.record(func() { c.send(append(fine, refused...)...); c.send(fine...) },
		"-w", some, "--trigger", "nak", "--before", "1m", "--after", "1m", "-c", fmt.Sprint(2*len(fine)+len(refused)))
	if r.code != 0 || !strings.Contains(r.err, "nak: NAK-ACCESS: ") {
		t.Errorf("%+v", r)
	}
	got, _ := recorded(t, some)
	wantFrames(t, got, append(append(fine[:len(fine):len(fine)], refused...), fine...))
}

func TestRecordEndsWithTheInterface(t *testing.T) {
	c := newCable(t)
	sent := frames(t, "rping_rxe.pcap")
	file := filepath.Join(t.TempDir(), "x.pcapng")
	r := c.record(func() {
		c.send(sent...)
		c.left.IP(t, "link delete "+nettest.LeftInterface)
	}, "-w", file)
	if r.code != 2 || !strings.Contains(r.err, "interface "+nettest.LeftInterface+": the interface was removed") {
		t.Errorf("%+v", r)
	}
	got, _ := recorded(t, file)
	wantFrames(t, got, sent)
}

func TestRecordGoesOnWhenTheInterfaceIsUpAgain(t *testing.T) {
	c := newCable(t)
	sent := frames(t, "rping_rxe.pcap")
	file := filepath.Join(t.TempDir(), "x.pcapng")
	r := c.record(func() {
		c.send(sent[:20]...)
		c.left.IP(t, "link set "+nettest.LeftInterface+" down")
		c.left.IP(t, "link set "+nettest.LeftInterface+" up")
		c.left.Ready(t, nettest.LeftInterface)
		c.send(sent[20:]...)
	}, "-w", file, "-c", fmt.Sprint(len(sent)))
	if r.code != 0 || !strings.Contains(r.err, "interface "+nettest.LeftInterface+" is down; recording goes on") {
		t.Errorf("%+v", r)
	}
	got, _ := recorded(t, file)
	wantFrames(t, got, sent)
}

func TestRecordOnAFullDiskLeavesAReadableFile(t *testing.T) {
	testneed.Root(t)
	disk := t.TempDir()
	if out, err := exec.Command(testneed.Tool(t, "mount"), "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
	c := newCable(t)
	sent := frames(t, "write_bw.pcap")
	file := filepath.Join(disk, "x.pcapng")
	bytes := 0
	r := c.record(func() {
		for bytes < 3<<20 {
			c.send(sent...)
			for _, f := range sent {
				bytes += len(f)
			}
		}
	}, "-w", file)
	if r.code != 2 || !strings.Contains(r.err, "-w "+file+": ") || strings.Count(r.err, "no space left on device") != 1 {
		t.Errorf("%+v", r)
	}
	got, _ := recorded(t, file)
	kept := 0
	for _, f := range got {
		kept += len(f)
	}
	if kept < 900<<10 {
		t.Errorf("%d bytes of packets in a file of 1 MiB", kept)
	}
}

// program runs the program at the left end, as a process of its own, which is
// ready when this returns.
func (c *cable) program(file string) (*exec.Cmd, *waiter) {
	c.t.Helper()
	cmd := exec.Command(os.Args[0], "record", "-i", nettest.LeftInterface, "-w", file)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	ready := newWaiter("recording ")
	cmd.Stderr = ready
	c.left.Do(c.t, func() {
		if err := cmd.Start(); err != nil {
			c.t.Fatal(err)
		}
	})
	return cmd, ready
}

// TestASecondInterruptEndsARecorderThatIsStuck lets it write to a named pipe that has a
// reader which does not read.
func TestASecondInterruptEndsARecorderThatIsStuck(t *testing.T) {
	c := newCable(t)
	pipe := filepath.Join(t.TempDir(), "x.pcapng")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := syscall.Open(pipe, syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(reader) }()
	cmd, said := c.program(pipe)
	<-said.seen
	for err == nil { // until the pipe has no room any more
		_, err = syscall.Write(reader, make([]byte, 4096))
	}
	if !errors.Is(err, syscall.EAGAIN) {
		t.Fatal(err)
	}
	c.send(frames(t, "rping_rxe.pcap")...)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("it was not stuck: %v, %s", err, said)
	case <-time.After(200 * time.Millisecond):
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ends well, although not everything was written")
		}
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		t.Errorf("it goes on: %s", said)
	}
}

// TestRecordGoesOnBehindATerminalThatHangsUp runs it by nohup.
func TestRecordGoesOnBehindATerminalThatHangsUp(t *testing.T) {
	c := newCable(t)
	signal.Ignore(syscall.SIGHUP) // which the program inherits
	defer signal.Reset(syscall.SIGHUP)
	cmd, said := c.program(filepath.Join(t.TempDir(), "x.pcapng"))
	<-said.seen
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		t.Fatalf("it ends: %s", said)
	case <-time.After(300 * time.Millisecond):
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

func TestRecordEndsWithAnInterrupt(t *testing.T) {
	c := newCable(t)
	sent := frames(t, "rping_rxe.pcap")
	file := filepath.Join(t.TempDir(), "x.pcapng")
	cmd, text := c.program(file)
	<-text.seen
	c.send(sent...)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(text.String(), "packets written") {
		t.Errorf("%v\n%s", err, text)
	}
	got, _ := recorded(t, file)
	wantFrames(t, got, sent)
}

// TestAKilledRecorderLeavesAReadableFile kills 50 recorders at random moments.
// Each file has to be readable to its end, and to have everything up to a second,
// and what a loaded machine adds, before.
func TestAKilledRecorderLeavesAReadableFile(t *testing.T) {
	const rounds, together = 5, 10
	rng := rand.New(rand.NewPCG(1, 9))
	for range rounds {
		c := newCable(t)
		frame := frames(t, "rping_rxe.pcap")[0]
		dir := t.TempDir()
		var victims sync.WaitGroup
		stop := make(chan struct{})
		killed := make([]time.Time, together)
		programs := make([]*exec.Cmd, together)
		for i := range programs {
			cmd, text := c.program(filepath.Join(dir, fmt.Sprint(i, ".pcapng")))
			<-text.seen
			programs[i] = cmd
		}
		for i, cmd := range programs {
			lives := time.Duration(1200+rng.IntN(1000)) * time.Millisecond
			victims.Go(func() {
				<-time.After(lives)
				killed[i] = time.Now()
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
		}
		go func() {
			victims.Wait()
			close(stop)
		}()
		for sending := true; sending; {
			c.send(frame, frame, frame, frame)
			select {
			case <-stop:
				sending = false
			case <-time.After(200 * time.Microsecond):
			}
		}
		for i := range together {
			wantUpTo(t, filepath.Join(dir, fmt.Sprint(i, ".pcapng")), killed[i])
		}
	}
}

// wantUpTo checks that a file ends with a whole packet, not long before a time.
func wantUpTo(t *testing.T, name string, end time.Time) {
	t.Helper()
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	last := int64(0)
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			break
		}
		last = b.Records[len(b.Records)-1].Time
		b.Release()
	}
	const late = 2500 * time.Millisecond
	if missing := time.Duration(end.UnixNano() - last); missing > late {
		t.Errorf("%s ends %v before the recorder was killed", name, missing)
	}
}
