package section

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// changeKind is a kind of change that clients make.
type changeKind int

// The kinds of changes.
const (
	createSuite changeKind = iota
	renameSuite
	moveSuite
	createCase
	changeKinds int = iota
)

// String describes the change.
func (k changeKind) String() string {
	return [...]string{"create a suite", "rename a suite", "move a suite", "create a case"}[k]
}

// change is one request.
type change struct {
	method, path string
	body         any
}

// create creates a suite below a parent.
func (f *fleet) create(parent int64, name string) change {
	return change{http.MethodPost, fmt.Sprintf("/api/plans/%d/suites", f.plan), map[string]any{"parent_id": parent, "name": name}}
}

// changer is one client, which sends its requests one after the other to any instance.
type changer struct {
	fleet *fleet
	name  string
	made  int
	rand  *rand.Rand
}

// client returns the client with a number. It makes the same choices in every contender's turn.
func (f *fleet) client(number int) *changer {
	f.turn++
	return &changer{fleet: f, name: fmt.Sprintf("c%d-%d", f.turn, number), rand: rand.New(rand.NewPCG(uint64(f.turn), uint64(number)))}
}

// renamedFolders is the fraction of renames that rename a folder with its leaves.
const renamedFolders = 8

// next is the client's next change, of a kind.
func (c *changer) next(kind changeKind) change {
	c.made++
	f, name := c.fleet, fmt.Sprint(c.name, "-", c.made)
	oneOf := func(ids []int64) int64 { return ids[c.rand.IntN(len(ids))] }
	leaf, folder := oneOf(f.leaves), oneOf(f.folders)
	switch kind {
	case createSuite:
		return f.create(folder, name)
	case renameSuite:
		if c.rand.IntN(renamedFolders) == 0 {
			leaf = folder
		}
		return change{http.MethodPatch, fmt.Sprintf("/api/suites/%d", leaf), map[string]any{"name": name}}
	case moveSuite:
		return change{http.MethodPost, fmt.Sprintf("/api/suites/%d/move", leaf), map[string]any{"parent_id": folder}}
	default:
		return change{http.MethodPost, fmt.Sprintf("/api/suites/%d/cases", leaf), map[string]any{"name": name, "body": "steps"}}
	}
}

// driven is the outcome of a turn.
type driven struct {
	elapsed time.Duration
	// took has the time of each change that succeeded.
	took []time.Duration
	// refused is the number of changes refused because of others.
	refused int
}

// drive makes a number of clients change the plan for a time. They finish the changes that they
// have begun.
func (f *fleet) drive(ctx context.Context, clients int, d time.Duration) (driven, error) {
	each := make([]driven, clients)
	errs := make([]error, clients)
	var running sync.WaitGroup
	start := time.Now()
	end := start.Add(d)
	for n := range clients {
		c := f.client(n)
		running.Go(func() {
			for time.Now().Before(end) && errs[n] == nil && ctx.Err() == nil {
				errs[n] = c.send(ctx, &each[n])
			}
		})
	}
	running.Wait()
	all := driven{elapsed: time.Since(start)}
	for _, one := range each {
		all.took = append(all.took, one.took...)
		all.refused += one.refused
	}
	return all, errors.Join(errs...)
}

// send makes one change.
func (c *changer) send(ctx context.Context, into *driven) error {
	what := c.next(changeKind(c.rand.IntN(changeKinds)))
	start := time.Now()
	status, answer, err := c.fleet.send(ctx, c.fleet.instances[c.rand.IntN(instances)].URL, what)
	switch {
	case err != nil:
		return err
	case status < http.StatusMultipleChoices:
		into.took = append(into.took, time.Since(start))
	case status < http.StatusInternalServerError || !c.fleet.protection.asserts:
		// Without protection, clients see the database's own conflicts.
		into.refused++
	default:
		return fmt.Errorf("%s %s: %d %.300s", what.method, what.path, status, answer)
	}
	return nil
}

// make makes a change that must not meet others, and reads the answer into result.
func (f *fleet) make(ctx context.Context, what change, result any) error {
	status, answer, err := f.send(ctx, f.instances[0].URL, what)
	if err != nil {
		return err
	}
	if status >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %d %.300s", what.method, what.path, status, answer)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer, result)
}

// send sends a request and returns the answer.
func (f *fleet) send(ctx context.Context, url string, what change) (status int, answer []byte, err error) {
	var body io.Reader
	if what.body != nil {
		text, err := json.Marshal(what.body)
		if err != nil {
			return 0, nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, what.method, url+what.path, body)
	if err != nil {
		return 0, nil, err
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}
