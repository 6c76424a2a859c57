package storm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// answer is what a request led to. Its status is 0 where there was none.
type answer struct {
	status int
	suite  model.Suite
}

// ok reports whether the change was made.
func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// request is one change of the tree.
type request struct {
	method, path string
	body         any
}

// in is what a JSON body holds.
type in map[string]any

func insert(plan, parent int64, name string) request {
	return request{http.MethodPost, fmt.Sprintf("/api/plans/%d/suites", plan), in{"parent_id": parent, "name": name}}
}

func rename(id int64, name string) request {
	return request{http.MethodPatch, fmt.Sprintf("/api/suites/%d", id), in{"name": name}}
}

func move(id, parent int64) request {
	return request{http.MethodPost, fmt.Sprintf("/api/suites/%d/move", id), in{"parent_id": parent}}
}

func copyTo(id, parent int64, name string) request {
	return request{http.MethodPost, fmt.Sprintf("/api/suites/%d/copy", id), in{"parent_id": parent, "name": name}}
}

func remove(id int64) request {
	return request{http.MethodDelete, fmt.Sprintf("/api/suites/%d", id), nil}
}

// client is one user. A client sends one request after the other, and now and then
// several at once to different instances.
type client struct {
	http  *http.Client
	addrs []string
	plan  model.Plan
	world *world
	rand  *rand.Rand
	// name makes the names that the client gives its own.
	name  string
	made  int
	tally *tally
}

// send sends a request to any instance and counts what comes of it.
func (c *client) send(ctx context.Context, r request) answer {
	return c.sendTo(ctx, c.addrs[c.rand.IntN(len(c.addrs))], r)
}

// sendTo sends a request to one instance.
func (c *client) sendTo(ctx context.Context, addr string, r request) answer {
	start := time.Now()
	a, err := exchange(ctx, c.http, addr, r)
	if ctx.Err() == nil {
		c.tally.count(a.status, err, time.Since(start))
	}
	return a
}

// exchange sends a request and reads the answer.
func exchange(ctx context.Context, via *http.Client, addr string, r request) (answer, error) {
	var a answer
	err := call(ctx, via, addr, r, &a.status, &a.suite)
	return a, err
}

// call sends a request, and reads a successful answer into result.
func call(ctx context.Context, via *http.Client, addr string, r request, status *int, result any) error {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+addr+r.path, body)
	if err != nil {
		return err
	}
	resp, err := via.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	*status = resp.StatusCode
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s %s: %s: %.300s", r.method, r.path, resp.Status, text)
	}
	if resp.StatusCode >= http.StatusBadRequest || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.Unmarshal(text, result)
}
