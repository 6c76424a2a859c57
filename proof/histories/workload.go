package histories

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// plan is what the clients of one history share.
type plan struct {
	number, root int64
	began        time.Time

	mu            sync.Mutex
	suites, cases []int64
	items         []entry
	requests      int64
	history       []porcupine.Operation
	strange       []string // what no model need judge
	seen          string   // in the tables, at last
}

// names are few, so that they meet, and most begin as another one does.
var names = []string{"a", "a-b", "a%", "a_", "ab", "b"}

// client sends one request after the other.
type client struct {
	*plan
	number    int
	http      *http.Client
	instances []*instance
	rand      *rand.Rand
	copies    bool // makes requests that only locks keep apart
}

// act makes a random request.
func (c *client) act(ctx context.Context) {
	c.mu.Lock()
	any := func(of []int64) int64 { return of[c.rand.IntN(len(of))] }
	suite, other, few := any(c.suites), any(c.suites), len(c.suites) < 6
	name := names[c.rand.IntN(len(names))]
	w := input{node: id{number: suite}}
	switch n := c.rand.IntN(34); {
	case few && n < 24, n < 6:
		w = input{do: "create", to: other, name: name}
	case n < 10:
		w.do, w.name = "rename", name
	case n < 14:
		w.do, w.to = "move", other
	case n < 16:
		w.do = "delete"
	case n < 17 && c.copies && len(c.suites) < 15:
		w.do, w.to, w.name = "copy", other, name
	case n < 20 || n < 24 && len(c.cases) == 0:
		w = input{do: "create", node: id{leaf: true}, to: other, name: name}
	case n < 24:
		w.node = id{true, any(c.cases)}
		w.do = []string{"move", "delete", "rename"}[c.rand.IntN(3)]
		if !c.copies && w.do == "rename" {
			w.do = "move"
		}
		switch w.do {
		case "rename":
			w.name = name
		case "move":
			w.to = other
		}
	case n < 26 && c.copies && len(c.items) > 0:
		i := c.items[c.rand.IntN(len(c.items))]
		w = input{do: "restore", node: i.node, item: i.number}
	case n < 28:
		w.do = "cases"
	case n < 29:
		w.do = "suite"
	case n < 31:
		w = input{do: "bin"}
	default:
		w = input{do: "tree"}
	}
	c.mu.Unlock()
	c.do(ctx, w)
}

// routes are how requests are sent: suites, and cases where these differ.
var routes = map[string]string{
	"create suite": `POST /api/plans/PLAN/suites {"parent_id":TO,"name":"NAME"}`,
	"create case":  `POST /api/suites/TO/cases {"name":"NAME"}`,
	"rename":       `PATCH /api/NODE {"name":"NAME"}`,
	"move suite":   `POST /api/NODE/move {"parent_id":TO}`,
	"move case":    `POST /api/NODE/move {"suite_id":TO}`,
	"copy suite":   `POST /api/NODE/copy {"parent_id":TO,"name":"NAME"}`,
	"delete":       `DELETE /api/NODE`,
	"restore":      `POST /api/recycle-bin/ITEM/restore`,
	"suite":        `GET /api/NODE`,
	"cases":        `GET /api/NODE/cases`,
	"bin":          `GET /api/plans/PLAN/recycle-bin`,
	"tree":         `GET /api/plans/PLAN/tree`,
}

// route returns how a request is sent.
func (c *client) route(w input) (method, path, body string) {
	kind := "suite"
	if w.node.leaf {
		kind = "case"
	}
	words := strings.Fields(cmp.Or(routes[w.do], routes[w.do+" "+kind]))
	node := fmt.Sprintf("%ss/%d", kind, w.node.number)
	fill := strings.NewReplacer("PLAN", fmt.Sprint(c.plan.number), "NODE", node, "ITEM", fmt.Sprint(w.item), "TO", fmt.Sprint(w.to), "NAME", w.name)
	return words[0], fill.Replace(words[1]), fill.Replace(strings.Join(words[2:], ""))
}

// learn remembers what there is to make requests of.
func (p *plan) learn(w input, out output) {
	if w.do == "tree" {
		p.suites = p.suites[:1]
	}
	if w.do == "bin" {
		p.items = out.items
	}
	for _, r := range out.rows {
		known := &p.suites
		if r.leaf {
			known = &p.cases
		}
		if !slices.Contains(*known, r.number) {
			*known = append(*known, r.number)
		}
	}
}
