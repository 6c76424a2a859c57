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

// answer is the answer to a request. Its status is 0 if there was no answer.
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

// fields is a JSON body.
type fields map[string]any

func insert(plan, parent int64, name string) request {
	return request{http.MethodPost, fmt.Sprintf("/api/plans/%d/suites", plan), fields{"parent_id": parent, "name": name}}
}

func rename(id int64, name string) request {
	return request{http.MethodPatch, fmt.Sprintf("/api/suites/%d", id), fields{"name": name}}
}

func move(id, parent int64) request {
	return request{http.MethodPost, fmt.Sprintf("/api/suites/%d/move", id), fields{"parent_id": parent}}
}

func copyTo(id, parent int64, name string) request {
	return request{http.MethodPost, fmt.Sprintf("/api/suites/%d/copy", id), fields{"parent_id": parent, "name": name}}
}

func remove(id int64) request {
	return request{http.MethodDelete, fmt.Sprintf("/api/suites/%d", id), nil}
}

// client is one user. It sends its requests one after the other, except for those of
// [client.atOnce].
type client struct {
	http  *http.Client
	addrs []string
	plan  model.Plan
	world *world
	rand  *rand.Rand
	// name is the prefix of the names that the client gives. made counts them.
	name  string
	made  int
	tally *tally
}

// send sends a request to any instance, and counts the answer.
func (c *client) send(ctx context.Context, r request) answer {
	return c.sendTo(ctx, c.addrs[c.rand.IntN(len(c.addrs))], r)
}

// sendTo sends a request to one instance, and counts the answer.
func (c *client) sendTo(ctx context.Context, addr string, r request) answer {
	start := time.Now()
	var a answer
	var err error
	a.status, err = call(ctx, c.http, addr, r, &a.suite)
	if ctx.Err() == nil {
		c.tally.count(a.status, err, time.Since(start))
	}
	return a
}

// call sends a request, reads the body of a success into result, and returns the status. A 5xx
// status is an error, too.
func call(ctx context.Context, via *http.Client, addr string, r request, result any) (status int, err error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+addr+r.path, body)
	if err != nil {
		return 0, err
	}
	resp, err := via.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return 0, err
	case resp.StatusCode >= http.StatusInternalServerError:
		err = fmt.Errorf("%s %s: %s: %.300s", r.method, r.path, resp.Status, text)
	case resp.StatusCode < http.StatusBadRequest && resp.StatusCode != http.StatusNoContent:
		err = json.Unmarshal(text, result)
	}
	return resp.StatusCode, err
}
