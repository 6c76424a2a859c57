package smallworld

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/proof/simredis"
)

// doer carries out a command: a simulated Redis, or a real one.
type doer func(args ...string) (any, error)

// scripts is the scripts' table of one tree.
type scripts struct {
	*calls
	do   doer
	ids  int               // given out
	shas map[string]string // what Redis calls the scripts that it knows, by their texts
}

// send makes a call for an owner and a grant, and returns the strings of the reply.
func (t *scripts) send(call []string, owner, to uint8, grant string) ([]string, error) {
	name := func(o uint8) string { return "owner" + strconv.Itoa(int(o)) }
	names := strings.NewReplacer(someOwner, name(owner), heir, name(to), someGrant, grant)
	args := slices.Clone(call)
	for i := 2; i < len(args); i++ {
		args[i] = names.Replace(args[i])
	}
	sha, known := t.shas[args[1]]
	if !known {
		sum := sha1.Sum([]byte(args[1]))
		sha = hex.EncodeToString(sum[:])
		t.shas[args[1]] = sha
		if _, err := t.do("script", "load", args[1]); err != nil {
			return nil, err
		}
	}
	args[0], args[1] = "evalsha", sha
	reply, err := t.do(args...)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, item := range reply.([]any) {
		all = append(all, fmt.Sprint(item))
	}
	return all, nil
}

// entry is a request as the table shows it.
type entry struct {
	request
	grant string
}

// entries reads the table: the granted ones, and then those who wait, in order of arrival.
func (t *scripts) entries() ([]entry, error) {
	const head, each = 4, 9
	shown, err := t.send(t.show, 0, 0, "")
	if err != nil {
		return nil, err
	}
	var all []entry
	for f := range slices.Chunk(shown[head:], each) {
		ask, _, _ := strings.Cut(f[7], ".")
		n, _ := strconv.Atoi(ask)
		all = append(all, entry{request{owner: f[1][len("owner")] - '0', ask: uint8(n), granted: f[0] == "holder", watches: none}, f[7]})
		if f[0] == "waiter" {
			all[len(all)-1].grant = f[7] + " " + f[2]
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		switch {
		case a.granted && b.granted:
			return 0
		case a.granted:
			return -1
		case b.granted:
			return 1
		}
		_, ticketA, _ := strings.Cut(a.grant, " ")
		_, ticketB, _ := strings.Cut(b.grant, " ")
		return strings.Compare(ticketA, ticketB)
	})
	for i := range all {
		all[i].grant, _, _ = strings.Cut(all[i].grant, " ")
	}
	return all, nil
}

func plain(all []entry) state {
	s := make(state, len(all))
	for i, e := range all {
		s[i] = e.request
	}
	return s
}

// run carries out a command in one of the ways that there are for it, which variant chooses.
func (t *scripts) run(all []entry, c command, variant int) (refused bool, err error) {
	var reply []string
	switch c.what {
	case take:
		t.ids++
		reply, err = t.send(t.acquire[c.ask], c.owner, 0, fmt.Sprintf("%d.%d", c.ask, t.ids))
		return err == nil && reply[0] == "deadlock", err
	case end:
		r := all[c.ask]
		switch {
		case r.granted:
			_, err = t.send(t.release, r.owner, 0, r.grant)
		case variant%2 == 0:
			_, err = t.send(t.withdraw, r.owner, 0, r.grant)
		default: // ask once more, without waiting
			again := slices.Clone(t.acquire[r.ask])
			again[len(again)-10] = "0"
			_, err = t.send(again, r.owner, 0, r.grant)
		}
	case evict:
		if variant%2 == 0 {
			_, err = t.send(t.force, c.owner, 0, "")
			break
		}
		if err = t.endLease(all, c.owner); err == nil { // whoever comes next clears up
			_, err = t.send(t.force, owners, 0, "")
		}
	case move:
		_, err = t.send(t.calls.move, c.owner, c.ask, "")
	}
	return false, err
}

// endLease has the lease of an owner, and its places in the queue, end.
func (t *scripts) endLease(all []entry, o uint8) error {
	const deadlines = 4 // where the key is in a call
	key := t.show[deadlines]
	reply, err := t.do("ZRANGE", key, "0", "-1")
	if err != nil {
		return err
	}
	waits := slices.ContainsFunc(all, func(e entry) bool { return e.owner == o && !e.granted })
	for _, member := range reply.([]any) {
		name := fmt.Sprint(member)
		mine := name == fmt.Sprintf("oowner%d", o)
		if name[0] == 'w' && waits {
			record, err := t.do("HGET", t.show[deadlines-1], "rowner"+strconv.Itoa(int(o)))
			if err != nil {
				return err
			}
			mine = strings.Contains(fmt.Sprint(record), name[1:])
		}
		if mine {
			if _, err := t.do("ZADD", key, "1", name); err != nil {
				return err
			}
		}
	}
	return nil
}

// try has the scripts carry out a command, compares the outcome with the rule, and returns it.
func (t *scripts) try(all []entry, c command, variant int) ([]entry, error) {
	s := plain(all)
	before := lookAt(s)
	want, wantRefused, _ := before.after(c)
	refused, err := t.run(all, c, variant)
	if err != nil {
		return nil, err
	}
	next, err := t.entries()
	if err != nil {
		return nil, err
	}
	if err := differs(refused, wantRefused, plain(next), want); err != nil {
		return nil, fmt.Errorf("%w\nafter: %v\nin the state\n%v", err, c, s)
	}
	return next, nil
}

// alike leaves out what Redis may do otherwise than the rule: a gate is shut as soon as only
// holders are in its way. So an owner that waits for the gate counts as one that holds something,
// and a holder that asks for the gate shuts out newcomers.
func (s state) alike(all []command) []command {
	return slices.DeleteFunc(all, func(c command) bool {
		return c.what == take && slices.ContainsFunc(s, func(r request) bool {
			return r.owner == c.owner && (asks[c.ask].gate || !r.granted && asks[r.ask].gate)
		})
	})
}

// explore has the scripts carry out every order of commands, breadth first, until a time has
// passed.
func (t *scripts) explore(server *simredis.Server, until time.Time) (*explored, error) {
	done := new(explored)
	frontier := []simredis.Image{nil}
	for ; len(frontier) > 0; done.depth++ {
		var next []simredis.Image
		for _, image := range frontier {
			server.Restore(image)
			all, err := t.entries()
			if err != nil {
				return done, err
			}
			for _, c := range plain(all).alike(plain(all).commands(owners, most, everything)) {
				server.Restore(image)
				done.commands++
				got, err := t.try(all, c, done.commands)
				if err != nil {
					return done, err
				}
				if done.add(keyOf(plain(got))) {
					next = append(next, server.Image())
				}
			}
			if done.states++; time.Now().After(until) {
				return done, nil
			}
		}
		frontier = next
	}
	return done, nil
}

// walk has the scripts carry out so many random commands, one after the other.
func (t *scripts) walk(random *rand.Rand, steps int) error {
	var history []string
	all, err := t.entries()
	for range steps {
		if err != nil {
			return err
		}
		c := choose(random, plain(all).alike(plain(all).commands(owners, most, everything)), most)
		history = append(history, c.String())
		if all, err = t.try(all, c, random.Int()); err != nil {
			err = fmt.Errorf("%w\nwhat happened:\n%s", err, strings.Join(history, "\n"))
		}
	}
	if err != nil {
		return err
	}
	for o := range uint8(owners) {
		if _, err := t.send(t.force, o, 0, ""); err != nil {
			return err
		}
	}
	return nil
}
