package histories

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// How much a round is: plans one after the other in each of some lanes, and the requests of each
// client of a plan.
const (
	lanes       = 4
	plansInLane = 2
	clients     = 6
	requests    = 12
)

// conditions are what is different from round to round.
type conditions struct {
	name   string
	flags  [3][]string // of the instances
	faults bool        // instances and networks fail
	copies bool        // requests that only locks keep apart are made
}

var (
	alone = []string{"--assert=false"}
	off   = []string{"--locks=off://"}
)

// all are those of one round after the other.
var all = []conditions{
	{"faults", [3][]string{}, true, true},
	{"faults, and an instance without locks", [3][]string{2: off}, true, false},
	{"locks alone", [3][]string{alone, alone, alone}, false, true},
}

// tally is what has been tried.
type tally struct{ histories, requests, faults, unknown, refused int }

func (s *tally) add(histories []*plan, faults int) {
	s.histories += len(histories)
	s.faults += faults
	for _, p := range histories {
		s.requests += len(p.history)
		for _, op := range p.history {
			switch out := op.Output.(output); {
			case out.unknown:
				s.unknown++
			case out.refused != "":
				s.refused++
			}
		}
	}
}

// round runs some histories, and returns those that could be judged.
func (b backend) round(t *testing.T, seed uint64) (judged []*plan, faults int) {
	r := rand.New(rand.NewPCG(seed, 0))
	under := all[seed%uint64(len(all))]
	t.Log(under.name)
	instances := make([]*instance, len(under.flags))
	for n, flags := range under.flags {
		instances[n] = b.start(t, flags...)
	}
	via := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: lanes * clients}}
	defer via.CloseIdleConnections()
	act := func(p *plan, n int) *client {
		return &client{
			plan: p, number: n, http: via, instances: instances, rand: rand.New(rand.NewPCG(seed, uint64(p.number*100+int64(n)))), copies: under.copies,
		}
	}
	var done []*plan
	for n := range lanes * plansInLane {
		done = append(done, newPlan(t, instances[0], fmt.Sprintf("%d-%d", seed, n)))
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		var busy sync.WaitGroup
		for lane := range slices.Chunk(done, plansInLane) {
			busy.Go(func() {
				for _, p := range lane {
					p.run(t.Context(), t, b.pool, act)
				}
			})
		}
		busy.Wait()
	}()
	for ended := false; !ended; {
		select {
		case <-over:
			ended = true
		case <-time.After(time.Duration(10+r.IntN(200)) * time.Millisecond):
			if under.faults && instances[r.IntN(len(instances))].fail(t, r) {
				faults++
			}
		}
	}
	for _, i := range instances {
		i.heal()
	}
	for _, p := range done {
		last := act(p, clients)
		for _, do := range []string{"tree", "bin"} {
			for n := 0; !last.do(t.Context(), input{do: do}); n++ {
				if n == 20 {
					t.Fatal("no instance answers")
				}
			}
		}
		testerr.Must(t, p.look(t.Context(), b.pool))
		if p.judge(t) {
			judged = append(judged, p)
		}
	}
	return judged, faults
}

// newPlan makes a plan.
func newPlan(t *testing.T, at *instance, name string) *plan {
	t.Helper()
	resp, err := http.Post("http://"+at.Addr+"/api/projects/histories/plans", "application/json", strings.NewReader(fmt.Sprintf(`{"name":%q}`, name))) //nolint:noctx // answered soon
	testerr.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	var made struct {
		ID   int64
		Root int64 `json:"root_id"`
	}
	testerr.Must(t, json.NewDecoder(resp.Body).Decode(&made))
	if made.ID == 0 {
		t.Fatalf("no plan: %s", resp.Status)
	}
	return &plan{number: made.ID, root: made.Root, suites: []int64{made.Root}, began: time.Now()}
}

// run has the clients of a plan send their requests, while somebody looks at the tables.
func (p *plan) run(ctx context.Context, t *testing.T, pool *sql.DB, act func(*plan, int) *client) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		var busy sync.WaitGroup
		for n := range clients {
			c := act(p, n)
			busy.Go(func() {
				for range requests {
					c.act(ctx)
				}
			})
		}
		busy.Wait()
	}()
	for ended := false; !ended; {
		select {
		case <-over:
			ended = true
		case <-time.After(20 * time.Millisecond):
		}
		testerr.None(t, p.look(ctx, pool))
	}
}

// look records what the tables have, past the code under test.
func (p *plan) look(ctx context.Context, pool *sql.DB) error {
	call, out := time.Since(p.began), output{}
	rows, err := pool.QueryContext(ctx, fmt.Sprintf(`SELECT 0, id, COALESCE(parent_id, 0), name, path, version, deleted_at IS NOT NULL FROM suites WHERE plan_id = %d
		UNION ALL SELECT 1, c.id, c.suite_id, c.name, s.path, 0, c.deleted_at IS NOT NULL FROM cases c JOIN suites s ON s.id = c.suite_id WHERE s.plan_id = %[1]d
		ORDER BY 1, 5`, p.number))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r row
		var gone bool
		if err := rows.Scan(&r.leaf, &r.number, &r.parent, &r.name, &r.path, &r.version, &gone); err != nil {
			return err
		}
		switch {
		case gone:
			out.gone[first(r.id)]++
			continue
		case r.leaf:
			r.path += "/" + r.name
		}
		out.rows = append(out.rows, r)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := out.String()
	if text == p.seen {
		return nil
	}
	p.seen = text
	p.history = append(p.history, porcupine.Operation{Input: input{do: "table"}, Call: int64(call), Output: out, Return: int64(time.Since(p.began))})
	return nil
}
