package locktable

import (
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// desk is a table whose requests come one at a time.
type desk struct {
	testing.TB
	*Table
	fence uint64
}

func newDesk(t testing.TB) *desk {
	tree, err := pathlock.NewTree("test", "plan")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t}
	d.Table = New(tree, d.mint, func(*Request) {})
	d.Enter(time.Now())
	return d
}

func (d *desk) mint(time.Time) uint64 {
	d.fence++
	return d.fence
}

// ask returns a request of an owner, whose name is the grant's id too.
func (d *desk) ask(owner string, claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: d.Tree(), Owner: pathlock.Owner(owner), Grant: pathlock.GrantID(owner), Claims: claims, Lease: time.Hour,
	}
}

// take requires that a request is granted.
func (d *desk) take(owner string, claims ...pathlock.Claim) {
	d.Helper()
	if _, err := d.Acquire(d.ask(owner, claims...)); err != nil {
		d.Fatal(err)
	}
}

// queue requires that a request of an owner begins to wait.
func (d *desk) queue(owner string, claims ...pathlock.Claim) *Request {
	d.Helper()
	req := d.ask(owner, claims...)
	req.Grant, req.Wait = "waiting", time.Hour
	r, err := d.Acquire(req)
	if err != nil {
		d.Fatal(err)
	}
	if !r.Queued() {
		d.Fatalf("%s is granted %v", owner, claims)
	}
	return r
}

func (d *desk) releases(owner string) {
	d.Helper()
	if err := d.Release(pathlock.Owner(owner), pathlock.GrantID(owner)); err != nil {
		d.Fatal(err)
	}
}

// audited fails the test unless the table is what it must be.
func (d *desk) audited() {
	d.Helper()
	if err := d.Audit(); err != nil {
		d.Fatal(err)
	}
}

func x(path string) []pathlock.Claim {
	return pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path)))
}

func own(i int) []pathlock.Claim { return x(fmt.Sprintf("/own%d", i)) }
