package histories

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// The meanings of an answer.
type meaning int

const (
	unknown meaning = iota // whether it happened
	busy                   // it did not happen; this says nothing of the same request's other copies
	refused                // it did not happen, nor will a copy that was sent before it
	done
)

// answer is the answer to one copy of a request.
type answer struct {
	meaning
	reason string
	body   []byte
	via    string // which instance, and how it answered
}

// send sends one copy of a request.
func (c *client) send(ctx context.Context, w input, key string, to []int) answer {
	method, path, body := c.route(w)
	// A transport sends a request with a key again, on a connection of its own, if the one that it
	// had was closed: an error of the second may hide that the first was sent.
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	for _, n := range to {
		req, err := http.NewRequestWithContext(ctx, method, "http://"+c.instances[n].Addr+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		resp, err := c.http.Do(req)
		if on, ok := errors.AsType[*net.OpError](err); ok && on.Op == "dial" && !sent.Load() {
			continue
		}
		if err != nil {
			return answer{via: fmt.Sprintf("%d: no answer", n)}
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return answer{via: fmt.Sprintf("%d: half an answer", n)}
		}
		return c.understand(resp.StatusCode, text, fmt.Sprintf("%d: %d", n, resp.StatusCode))
	}
	return answer{meaning: busy, reason: nowhere, via: "not sent"}
}

// wonder records what is wrong whatever the tree is.
func (c *client) wonder(what ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strange = append(c.strange, fmt.Sprintf(strings.Repeat("%s ", len(what)), what...))
}

// understand says what an answer means.
func (c *client) understand(status int, body []byte, via string) answer {
	if status < http.StatusBadRequest {
		return answer{done, "", body, via}
	}
	var problem struct{ Type, Detail string }
	_ = json.Unmarshal(body, &problem)
	reason := problem.Type[strings.LastIndexByte(problem.Type, ':')+1:]
	a := answer{refused, reason, nil, via + " " + reason}
	switch reason {
	case "outcome-unknown":
		a.meaning = unknown
	case "idempotency-answer-lost":
		a.meaning = done
	case "idempotency-key-in-use", "database-unavailable":
		a.meaning = busy
	case "lock-store-unavailable":
	default:
		if status >= http.StatusInternalServerError {
			c.wonder(status, body)
		}
	}
	return a
}

// tries is how often a request with a key is sent until its outcome is known, and patience how long
// a client waits for an answer.
const (
	tries    = 3
	patience = 1500 * time.Millisecond
)

// do sends a request until its outcome is known, and records it. Only a request with a key is sent
// again, at times twice at once.
func (c *client) do(ctx context.Context, w input) (known bool) {
	copies, again, limit, key := 1, 1, patience, ""
	if !w.reads() && c.rand.IntN(5) < 3 {
		again, key = tries, fmt.Sprintf("%x", c.rand.Uint64())
		copies += c.rand.IntN(5) / 4
	}
	if c.rand.IntN(10) == 0 { // in a hurry
		limit = time.Duration(1+c.rand.IntN(40)) * time.Millisecond
	}
	out := c.request(ctx, w, key, copies, again, limit)
	if key != "" && !out.unknown && out.refused == "" && w.name != "" && c.rand.IntN(4) == 0 {
		w.reused, w.name = true, w.name+"!" // a refused request leaves its key to others
		c.request(ctx, w, key, 1, 1, patience)
	}
	return !out.unknown && out.refused != nowhere
}

// nowhere is why a request was not sent.
const nowhere = "no instance"

// request is do for one key.
func (c *client) request(ctx context.Context, w input, key string, copies, again int, limit time.Duration) (out output) {
	c.mu.Lock()
	c.requests++
	w.seq = 1000 * c.requests
	c.mu.Unlock()
	var via []string
	call, doubt := time.Since(c.began), false
	for n := range again {
		if n > 0 {
			time.Sleep(time.Duration(n*(20+c.rand.IntN(50))) * time.Millisecond)
		}
		var all sync.WaitGroup
		answers := make([]answer, copies)
		for i := range answers {
			to := c.rand.Perm(len(c.instances))
			all.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				answers[i] = c.send(ctx, w, key, to)
			})
		}
		all.Wait()
		best := answers[0]
		for i, a := range answers {
			via = append(via, a.via)
			if i > 0 && a.meaning == done && best.meaning == done && a.body != nil && best.body != nil && string(a.body) != string(best.body) {
				c.wonder(w, a.body, best.body)
			}
			if a.meaning == unknown {
				doubt = true
			}
			best = better(best, a)
		}
		out = output{refused: best.reason}
		if best.meaning == done {
			var err error
			if out, err = read(w, best.body); err != nil {
				c.wonder(w, best.body, err)
			}
		}
		out.unknown = best.meaning == unknown || best.meaning == busy && doubt
		if !out.unknown {
			break
		}
		limit = patience / 2
	}
	back := int64(time.Since(c.began))
	if out.unknown {
		out, back = output{unknown: true}, math.MaxInt64
	}
	if out.unknown && w.reads() || out.refused == nowhere {
		return out
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learn(w, out)
	c.history = append(c.history, porcupine.Operation{
		ClientId: c.number, Input: w, Call: int64(call), Output: out, Return: back, Metadata: strings.Join(via, ", "),
	})
	return out
}

// better returns which of two answers to copies of a request counts.
func better(a, b answer) answer {
	rank := [...]int{unknown: 2, busy: 0, refused: 1, done: 3}
	if rank[b.meaning] > rank[a.meaning] || b.body != nil {
		return b
	}
	return a
}

// shown is a node, or an item of the bin, in an answer.
type shown struct {
	ID, Version   int64
	ParentID      int64 `json:"parent_id"` // null for the root: 0
	SuiteID       int64 `json:"suite_id"`
	NodeID        int64 `json:"node_id"`
	Name, Path    string
	Kind          string
	Suites, Cases int
}

func (s shown) row() row {
	return row{id{s.SuiteID != 0, s.ID}, s.ParentID + s.SuiteID, s.Name, s.Path, s.Version}
}

// read reads the answer to a request.
func read(w input, body []byte) (out output, err error) {
	var one shown
	var lists struct{ Suites, Cases, Items []shown }
	switch {
	case len(body) == 0: // there is nothing to say, or it was lost
	case w.do == "tree", w.do == "cases", w.do == "bin":
		err = json.Unmarshal(body, &lists)
	default:
		err = json.Unmarshal(body, &one)
		out.rows = append(out.rows, one.row())
	}
	for _, s := range append(lists.Suites, lists.Cases...) {
		out.rows = append(out.rows, s.row())
	}
	for _, s := range lists.Items {
		out.items = append(out.items, entry{s.ID, id{s.Kind == "case", s.NodeID}, s.ParentID, s.Name, s.Path, s.Suites, s.Cases})
	}
	return out, err
}
