package pathlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

func TestValidateRefusesWhatNoLockerSends(t *testing.T) {
	valid := pathlock.Acquisition{
		Tree: tree(t, "plan"), Owner: "owner", Grant: "grant", Lease: time.Second,
		Claims: claims(t, "X /a"),
	}
	if err := valid.Validate(); err != nil {
		t.Errorf("a valid one: %v", err)
	}
	gate := valid
	gate.Gate, gate.Claims = true, nil
	if err := gate.Validate(); err != nil {
		t.Errorf("the gate without claims: %v", err)
	}
	apart := valid
	apart.Apart, apart.Held = true, true
	if err := apart.Validate(); err != nil {
		t.Errorf("one apart, of an owner that holds something: %v", err)
	}
	for says, spoil := range map[string]func(*pathlock.Acquisition){
		"no tree":                 func(a *pathlock.Acquisition) { a.Tree = pathlock.Tree{} },
		"no owner":                func(a *pathlock.Acquisition) { a.Owner = "" },
		"no grant id":             func(a *pathlock.Acquisition) { a.Grant = "" },
		"lease":                   func(a *pathlock.Acquisition) { a.Lease = 0 },
		"apart from none":         func(a *pathlock.Acquisition) { a.Apart = true },
		"neither claims":          func(a *pathlock.Acquisition) { a.Claims = nil },
		"the mode Mode(6) of /":   func(a *pathlock.Acquisition) { a.Claims = []pathlock.Claim{{Mode: 6}} },
		"the mode none of /dir/x": func(a *pathlock.Acquisition) { a.Claims = []pathlock.Claim{{Path: pathlock.MustParsePath("/dir/x")}} },
	} {
		a := valid
		spoil(&a)
		if err := a.Validate(); !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}
