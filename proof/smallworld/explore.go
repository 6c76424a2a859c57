package smallworld

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"
)

// seen is the states that have been reached. It is in parts, so that goroutines seldom meet.
type seen [64]part

type part struct {
	sync.Mutex
	keys map[key]struct{}
}

// add reports whether a state is new.
func (s *seen) add(k key) bool {
	p := s.part(k)
	p.Lock()
	defer p.Unlock()
	if p.keys == nil {
		p.keys = make(map[key]struct{})
	}
	before := len(p.keys)
	p.keys[k] = struct{}{}
	return len(p.keys) > before
}

func (s *seen) part(k key) *part { return &s[(uint64(k)*0x9E3779B97F4A7C15)>>58] }

func (s *seen) has(k key) bool {
	_, has := s.part(k).keys[k]
	return has
}

// explored is how far an exploration has come.
type explored struct {
	seen
	states, commands int // states are those that no exploration before has seen
	// depth is how many commands in a row have been tried in every order, and whole says that there
	// is nothing beyond them.
	depth int
	whole bool
}

// explore tries every order of commands on the real queue, breadth first, until a time has passed
// or so many states are known. There are at most so many requests at once, of those that may be
// asked. In each state, the predicates hold, and each command does what the rule says.
func explore(requests int, may uint32, limit int, within time.Duration, before ...*explored) (*explored, error) {
	done := new(explored)
	began := time.Now()
	frontier := []key{keyOf(nil)}
	done.add(frontier[0])
	for ; len(frontier) > 0; done.depth++ {
		var mu sync.Mutex
		var next []key
		var failed error
		over := false
		var workers sync.WaitGroup
		for portion := range slices.Chunk(frontier, (len(frontier)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0)) {
			workers.Go(func() {
				t := newTable()
				for some := range slices.Chunk(portion, 256) {
					found, commands, err := t.step(some, requests, may, &done.seen)
					fresh := len(found)
					for _, k := range found {
						if slices.ContainsFunc(before, func(b *explored) bool { return b.has(k) }) {
							fresh--
						}
					}
					mu.Lock()
					next = append(next, found...)
					done.states, done.commands = done.states+fresh, done.commands+commands
					if err != nil && failed == nil {
						failed = err
					}
					over = over || failed != nil || done.states >= limit || time.Since(began) > within
					stop := over
					mu.Unlock()
					if stop {
						return
					}
				}
			})
		}
		workers.Wait()
		if over {
			return done, failed
		}
		frontier = next
	}
	done.whole = true
	return done, nil
}

// step tries all commands in some states, and returns the new states.
func (t *table) step(some []key, requests int, may uint32, known *seen) (found []key, commands int, err error) {
	for _, k := range some {
		s := lookAt(decode(k))
		for _, c := range s.commands(owners, requests, may) {
			commands++
			t.put(s.state)
			next, err := t.try(&s, c)
			if err == nil {
				if k := keyOf(next); known.add(k) {
					found = append(found, k)
					l := lookAt(next)
					err = l.violated()
				}
			}
			if err != nil {
				return found, commands, fmt.Errorf("%w\nafter: %v\nin the state\n%v", err, c, s)
			}
		}
	}
	return found, commands, nil
}

// walk has the queue carry out so many random commands, one after the other, of more owners than
// can be explored.
func walk(random *rand.Rand, steps int) error {
	t, s := newTable(), state(nil)
	for range steps {
		c := choose(random, s.commands(manyOwners, many, everything), many)
		before := lookAt(s)
		got, err := t.try(&before, c)
		after := lookAt(got)
		if err = cmp.Or(err, after.violated()); err != nil {
			return fmt.Errorf("%w\nafter: %v\nin the state\n%v", err, c, s)
		}
		s = got
	}
	return nil
}

// choose chooses a command. Most are asks, of those who come first.
func choose(random *rand.Rand, possible []command, most int) command {
	if random.IntN(2) == 0 {
		return possible[random.IntN(min(len(possible), 2*most))]
	}
	return possible[random.IntN(len(possible))]
}

// try has the queue carry out a command in the state that it is in, and compares the outcome with
// the rule.
func (t *table) try(s *look, c command) (state, error) {
	want, wantRefused, wrong := s.after(c)
	if wrong != "" {
		return nil, fmt.Errorf("the rule contradicts itself: %s", wrong)
	}
	refused := t.do(c)
	got, err := t.state()
	return got, cmp.Or(err, differs(refused, wantRefused, got, want))
}

// differs says how an outcome differs from what the rule has.
func differs(refused, wantRefused bool, got, want state) error {
	switch {
	case refused != wantRefused:
		return fmt.Errorf("refused: %v, want %v", refused, wantRefused)
	case !same(got, want):
		return fmt.Errorf("got\n%vwant\n%v", got, want)
	default:
		return nil
	}
}

// same compares who holds and who waits.
func same(a, b state) bool {
	if len(a) != len(b) {
		return false
	}
	plain := func(s state) (held, waits []request) {
		for _, r := range s {
			r.watches = none
			if r.granted {
				held = append(held, r)
			} else {
				waits = append(waits, r)
			}
		}
		slices.SortFunc(held, func(a, b request) int { return int(a.owner)<<5 + int(a.ask) - int(b.owner)<<5 - int(b.ask) })
		return held, waits
	}
	heldA, waitsA := plain(a)
	heldB, waitsB := plain(b)
	return slices.Equal(heldA, heldB) && slices.Equal(waitsA, waitsB)
}
