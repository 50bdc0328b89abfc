package rocecap_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/netio/nettest"
)

// live runs `rocecap live` at the left end for a while; then runs when its error
// stream, or else its output, has a text.
func (c *cable) live(then func(text string), ready string, args ...string) (out string, code int) {
	c.t.Helper()
	text := newWaiter(ready)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.left.Do(c.t, func() {
			code = rocecap.Main(append([]string{"live", "-i", nettest.LeftInterface}, args...), rocecap.Streams{Out: text, Err: text})
		})
	}()
	select {
	case <-text.seen:
		then(text.String())
		<-done
	case <-done:
	}
	return text.String(), code
}

func TestLiveCountsEveryPacketOfAnInterface(t *testing.T) {
	c := newCable(t)
	sent := frames(t, "rping_rxe.pcap")
	out, code := c.live(func(string) { c.send(sent...) }, `"streams":[]`, "--json", "--interval", "50ms", "-a", "1500ms")
	total := map[string]int64{}
	for line := range strings.Lines(out) {
		if line[0] != '{' {
			continue // of the error stream
		}
		var o liveObject
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if o.Seconds < 0 || o.Seconds > 60 {
			t.Errorf("an interval of %g seconds", o.Seconds)
		}
		for name, n := range o.New {
			total[name] += n
		}
	}
	// Of 12 SENDs, 3 WRITEs and 3 READs that analyze finds.
	if code != 0 || total["packets"] != int64(len(sent)) || total["messages"] < 18 {
		t.Errorf("exit code %d, %v of %d packets", code, total, len(sent))
	}
}

func TestLiveServesMetrics(t *testing.T) {
	c := newCable(t)
	c.left.IP(t, "link set lo up")
	sent := frames(t, "rping_rxe.pcap")
	address := regexp.MustCompile(`metrics at http://(\S+)/metrics`)
	var page string
	want := fmt.Sprintf("rocecap_capture_received_total{interface=%q} %d\n", nettest.LeftInterface, len(sent))
	_, code := c.live(func(text string) {
		c.send(sent...)
		at := address.FindStringSubmatch(text)[1]
		for end := time.Now().Add(20 * time.Second); followed(page) < len(sent) && time.Now().Before(end); {
			c.left.Do(t, func() { page = get(t, at, "/metrics") })
		}
	}, "/metrics\n", "--plain", "--interval", "50ms", "-a", "3s", "--metrics", "127.0.0.1:0")
	if code != 0 || !strings.Contains(page, want) || followed(page) != len(sent) {
		t.Errorf("exit code %d\n%s", code, page)
	}
}

// followed adds up the packets of all services.
func followed(page string) (sum int) {
	for _, m := range regexp.MustCompile(`rocecap_packets_total\{.*\} (\d+)`).FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[1])
		sum += n
	}
	return sum
}

// get gets a page over a connection that this goroutine makes: it belongs to the
// namespace that the goroutine is in.
func get(t *testing.T, address, path string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestLiveSaysWhyNothingMayBeSeen(t *testing.T) {
	c := newCable(t)
	out, code := c.live(func(string) {}, "0 streams", "--plain", "--interval", "50ms", "-a", "1s")
	if code != 0 || !strings.Contains(out, "nothing on "+nettest.LeftInterface+" yet: checksums of what this machine sends") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
