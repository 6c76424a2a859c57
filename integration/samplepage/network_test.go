package samplepage

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// network is between the windows and an app. It can hang: connections stay, and nothing comes
// through.
type network struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu     sync.Mutex
	passes *sync.Cond
	hangs  bool
	over   bool
	open   []net.Conn
}

// behind returns the app as seen through a network.
func (a *app) behind() (*app, *network) {
	a.Helper()
	target, err := url.Parse(a.url)
	if err != nil {
		a.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(a.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	n := &network{listener: listener, target: target.Host}
	n.passes = sync.NewCond(&n.mu)
	n.running.Go(n.accept)
	a.Cleanup(n.end)
	return &app{T: a.T, url: "http://" + listener.Addr().String(), stop: a.stop}, n
}

func (n *network) accept() {
	for {
		near, err := n.listener.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).Dial("tcp", n.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		n.mu.Lock()
		n.open = append(n.open, near, far)
		n.mu.Unlock()
		n.running.Go(func() { n.carry(near, far) })
		n.running.Go(func() { n.carry(far, near) })
	}
}

func (n *network) carry(from, to net.Conn) {
	_, _ = io.Copy(held{n, to}, from)
	_ = from.Close()
	_ = to.Close()
}

// held keeps what is written back while the network hangs.
type held struct {
	*network
	to net.Conn
}

// Write implements [io.Writer].
func (h held) Write(b []byte) (int, error) {
	h.mu.Lock()
	for h.hangs && !h.over {
		h.passes.Wait()
	}
	h.mu.Unlock()
	return h.to.Write(b)
}

// hang has nothing come through, or all that was held back.
func (n *network) hang(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hangs = on
	n.passes.Broadcast()
}

func (n *network) end() {
	_ = n.listener.Close()
	n.mu.Lock()
	n.over = true
	n.passes.Broadcast()
	for _, conn := range n.open {
		_ = conn.Close()
	}
	n.mu.Unlock()
	n.running.Wait()
}

// state waits until the window's connection is in a state.
func (w window) state(state string) {
	w.T().Helper()
	w.Await("the connection is "+state, fmt.Sprintf(`document.querySelector("#live").dataset.state === %q`, state))
}

// Where nothing comes through, the window says so, and shows nothing as done that is not. It
// catches up by itself when the network is back.
func TestANetworkThatHangs(t *testing.T) {
	a := alone(t)
	p, ids := a.planOf("a", "b")
	ask[object](a, "POST", fmt.Sprintf("/api/suites/%d/cases", ids["b"]), object{"name": "a case", "body": ""})
	behind, network := a.behind()
	w := open(behind, behind.address(p))
	w.choose(ids["a"])
	w.AwaitText(".lock-card", "Nobody is editing here")
	network.hang(true)
	w.do("rename")
	w.Press("c" + chromium.KeyEnter)
	w.Await("the rename is under way, and no more", fmt.Sprintf(
		`(r => r.ariaBusy === "true" && r.querySelector(".name").textContent === "a" && r.querySelector(".chip").textContent.includes("Saving “c”"))(document.querySelector(%q))`, row(ids["a"])))
	w.AwaitText("#detail h1", "a")
	w.choose(ids["b"])
	w.AwaitText(".cases", "could not be read")
	w.state("away")
	w.AwaitText("#banner", "The server does not answer. What you see is as of")
	w.AwaitText(".lock-card", "Nobody knows who is editing here")
	w.refused("No answer came")
	w.shows(ids["a"], "a")
	network.hang(false)
	w.state("live")
	w.AwaitGone("#banner")
	w.AwaitText(".case-list", "a case")
	w.AwaitText(".lock-card", "Nobody is editing here")
	w.card("Try again")
	w.shows(ids["a"], "c")
	w.AwaitGone(".notice.bad")
}
