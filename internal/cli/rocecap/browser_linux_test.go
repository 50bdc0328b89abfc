package rocecap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
)

// browser is a Chromium without a window that has one page open. It is told what
// to do by the DevTools protocol: objects of JSON, each ended by a zero byte, over
// two pipes.
type browser struct {
	t        *testing.T
	to       *os.File
	from     *bufio.Reader
	session  string
	calls    int
	loaded   int
	requests []string // URLs
	errors   []string // what scripts and the browser complained about
}

// openBrowser starts a browser.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	name := "google-chrome"
	if _, err := exec.LookPath(name); err != nil {
		name = "chromium"
	}
	program := testneed.Tool(t, name)
	profile, err := os.MkdirTemp("", "rocecap-browser")
	if err != nil {
		t.Fatal(err)
	}
	commands, to := pipe(t)
	from, answers := pipe(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--incognito", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{commands, answers}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	commands.Close()
	answers.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		to.Close() // the browser ends when nobody speaks to it
		cmd.Wait()
		cancel()
		from.Close()
		os.RemoveAll(profile)
	})
	b.attach()
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func (b *browser) attach() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
}

// begin begins another test.
func (b *browser) begin(t *testing.T) {
	t.Helper()
	b.t, b.requests, b.errors = t, nil, nil
	b.resize(1400, 1000)
}

// resize sets the size of the window.
func (b *browser) resize(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// call has the browser do something, and reads what it answers.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.calls++
	message := map[string]any{"id": b.calls, "method": method, "params": params}
	if params == nil {
		delete(message, "params")
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		answer := b.read()
		if answer.ID != b.calls {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// answer is what the browser says: to a call, or of its own accord.
type answer struct {
	ID     int
	Error  json.RawMessage
	Result json.RawMessage
	Method string
	Params json.RawMessage
}

func (b *browser) read() (a answer) {
	b.t.Helper()
	text, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	if err := json.Unmarshal(text[:len(text)-1], &a); err != nil {
		b.t.Fatalf("the browser says %.200q: %v", text, err)
	}
	switch a.Method {
	case "Page.loadEventFired":
		b.loaded++
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if err := json.Unmarshal(a.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		b.requests = append(b.requests, p.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.errors = append(b.errors, string(a.Params))
	}
	return a
}

// load opens a file, at a place in it.
func (b *browser) load(path, place string) {
	b.t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		b.t.Fatal(err)
	}
	before := b.loaded
	b.call("Page.navigate", map[string]any{"url": "file://" + path + place}, nil)
	for b.loaded == before {
		b.read()
	}
	b.settle()
}

// eval evaluates an expression of JavaScript, waits if it is a promise, and reads
// its value.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var result struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &result)
	if result.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, result.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(result.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// text evaluates an expression to a string.
func (b *browser) text(expression string) (s string) {
	b.t.Helper()
	b.eval("String("+expression+")", &s)
	return s
}

// number evaluates an expression to a number.
func (b *browser) number(expression string) (n float64) {
	b.t.Helper()
	b.eval("Number("+expression+")", &n)
	return n
}

// settle waits until the browser has drawn what was asked for.
func (b *browser) settle() {
	b.t.Helper()
	b.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))", nil)
}

// point is a place in the window.
type point struct{ X, Y float64 }

func (p point) add(x, y float64) point { return point{p.X + x, p.Y + y} }

// middle scrolls the first element of a selector into sight and returns its middle.
func (b *browser) middle(selector string) (p point) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({ block: "center" });
		const r = e.getBoundingClientRect();
		return { X: r.x + r.width / 2, Y: r.y + r.height / 2 };
	})()`, selector), &p)
	return p
}

// mouse is an event of the mouse.
func (b *browser) mouse(kind string, at point, more map[string]any) {
	b.t.Helper()
	params := map[string]any{"type": kind, "x": at.X, "y": at.Y}
	for name, value := range more {
		params[name] = value
	}
	b.call("Input.dispatchMouseEvent", params, nil)
}

var left = map[string]any{"button": "left", "clickCount": 1}

// click clicks with the left button.
func (b *browser) click(at point) {
	b.t.Helper()
	b.drag(at, at, nil)
}

// drag drags with the left button; keys are its modifiers.
func (b *browser) drag(from, to point, keys map[string]any) {
	b.t.Helper()
	pressed := map[string]any{"buttons": 1}
	released := map[string]any{}
	for _, all := range []map[string]any{left, keys} {
		for name, value := range all {
			pressed[name], released[name] = value, value
		}
	}
	b.mouse("mouseMoved", from, nil)
	b.mouse("mousePressed", from, pressed)
	if from != to {
		b.mouse("mouseMoved", point{(from.X + to.X) / 2, (from.Y + to.Y) / 2}, pressed)
		b.mouse("mouseMoved", to, pressed)
	}
	b.mouse("mouseReleased", to, released)
	b.settle()
}

// wheel turns the wheel.
func (b *browser) wheel(at point, by float64) {
	b.t.Helper()
	b.mouse("mouseWheel", at, map[string]any{"deltaX": 0, "deltaY": by})
	b.settle()
}

// press presses a key that writes a character.
func (b *browser) press(key string) {
	b.t.Helper()
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": key}, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
	b.settle()
}

// quiet checks that nothing was loaded but the page, and nothing failed.
func (b *browser) quiet(path string) {
	b.t.Helper()
	b.settle()
	for _, complaint := range b.errors {
		b.t.Errorf("the browser complains: %s", complaint)
	}
	page := "file://" + path
	foreign := func(url string) bool { return url != page && url != "data:," }
	if !slices.Contains(b.requests, page) || slices.ContainsFunc(b.requests, foreign) {
		b.t.Errorf("the browser asked for %q", b.requests)
	}
}
