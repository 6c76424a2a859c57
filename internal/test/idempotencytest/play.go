package idempotencytest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/middleware"
)

//go:embed testdata
var transcripts embed.FS

// instances are those of a transcript, which it begins with.
var instances = map[string]idempotency.Config{
	"A": {},
	"B": {Wait: pathlock.NoWait},
	"C": {Wait: time.Minute},
	"D": {Wait: 30 * time.Millisecond},
	"R": {Required: true, MaxBody: 100},
	"M": {MaxAnswer: 2 << 10, Wait: pathlock.NoWait},
}

// play runs the parts of a transcript, each with the words of its heading.
func (d Database) play(t *testing.T, file string) {
	t.Helper()
	text, err := transcripts.ReadFile("testdata/" + file)
	testerr.Must(t, err)
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		heading, steps, _ := strings.Cut(part, "\n")
		name, words, _ := strings.Cut(heading, ": ")
		for _, word := range strings.Fields(words + map[bool]string{true: " -"}[words == ""]) {
			t.Run(name+" "+word, func(t *testing.T) {
				p := &play{T: t, Database: d, key: key(), open: make(map[string]*client), first: make(map[string]answer)}
				if strings.HasSuffix(name, "(servers)") && p.client("A").db.Name() == "sqlite" {
					t.Skip("whoever has begun a transaction has the whole database")
				}
				first, second, _ := strings.Cut(word, ":")
				steps := strings.ReplaceAll(strings.NewReplacer("$1", first, "$2", second, "$", word).Replace(steps), "KEY", p.key)
				for line := range strings.Lines(steps) {
					if step, want, ok := strings.Cut(line, "|"); ok {
						p.step(strings.Fields(step), strings.TrimSpace(want))
					}
				}
			})
		}
	}
}

// key returns a key that nobody else uses.
func key() string { return fmt.Sprintf("k%x", rand.Uint64()) }

// play is one run through a part of a transcript.
type play struct {
	*testing.T
	Database
	key   string
	open  map[string]*client
	first map[string]answer // by key, what repetitions get
}

// client is an instance with one request under way.
type client struct {
	*shop
	mu       sync.Mutex
	until    string        // the step before which the request pauses
	paused   chan struct{} // gets something once it does
	goOn     chan struct{}
	answered chan answer
	asked    ask // what that is the answer to
}

// client opens an instance when it is first spoken of.
func (p *play) client(name string) *client {
	if c := p.open[name]; c != nil {
		return c
	}
	c := &client{shop: p.Database.open(p.T, instances[name]), paused: make(chan struct{}), goOn: make(chan struct{}), answered: make(chan answer, 1)}
	over := make(chan struct{})
	p.Cleanup(func() { close(over) })
	c.at = func(step string) {
		c.mu.Lock()
		pauses := step == c.until
		if pauses {
			c.until = ""
		}
		c.mu.Unlock()
		if pauses {
			c.paused <- struct{}{}
			select {
			case <-c.goOn:
			case <-over:
			}
		}
	}
	p.open[name] = c
	return c
}

// step carries out a step, and compares the outcome.
func (p *play) step(words []string, want string) {
	p.Helper()
	line := strings.Join(words, " ")
	got := ""
	switch words[0] {
	case "orders":
		got = fmt.Sprint(p.client("A").orders(p.T, p.key))
	case "lapse":
		p.exec("UPDATE pathlock_idempotency SET leased_until = 0")
	case "expire":
		p.exec("UPDATE pathlock_idempotency SET expires_at = 1")
	case "purge":
		testerr.Must(p, testerr.Of(p.client("A").keys.Purge(p.Context())))
	default:
		got = p.act(p.client(words[0]), words[1:])
	}
	if any := want == "fresh" && !strings.Contains(got, " again"); got != want && !any {
		p.Errorf("%s: %s, want %s", line, got, want)
	}
	for name, c := range p.open {
		for _, what := range c.wrong {
			p.Errorf("%s: instance %s: %s", line, name, what)
		}
		c.wrong = nil
	}
}

func (p *play) exec(statement string) {
	p.Helper()
	testerr.Must(p, p.client("A").db.Exec(statement).Error)
}

// act has an instance do something: sends PATH [with FORM] [up to STEP], begins PATH, goes on [up
// to STEP], ends, or is overtaken.
func (p *play) act(c *client, words []string) string {
	p.Helper()
	if n := len(words); n > 3 && words[n-2] == "to" {
		c.mu.Lock()
		c.until, words = words[n-1], words[:n-3]
		c.mu.Unlock()
	}
	switch words[0] {
	case "sends", "begins":
		a := p.ask(words[1:])
		c.asked = a
		go func() { c.answered <- c.send(p.Context(), a) }()
		if words[0] == "begins" {
			return ""
		}
	case "goes":
		c.goOn <- struct{}{}
	case "is": // overtaken, by somebody who takes the key over right before it does
		testerr.Must(p, c.db.Callback().Raw().Before("gorm:raw").Register("idempotencytest:before", func(db *gorm.DB) {
			const other = "UPDATE pathlock_idempotency SET attempt = 'other', leased_until = expires_at WHERE leased_until = 0"
			_, err := db.Statement.ConnPool.ExecContext(p.Context(), other)
			testerr.None(p, err)
		}))
		return ""
	}
	select {
	case got := <-c.answered: // in the order of the steps, whichever answer came first
		return p.judge(c.asked, got)
	case <-c.paused:
		return "pauses"
	case <-time.After(testlock.Patience): // who waits for a transaction has not what is wanted
		p.Fatalf("%s: no answer", words)
		return ""
	}
}

// ask reads a path and, behind "with", the differences from the usual request, as a form.
func (p *play) ask(words []string) ask {
	p.Helper()
	a := ask{path: words[0], keys: []string{p.key}, user: "anybody", body: item(p.key), more: make(http.Header)}
	if len(words) < 3 {
		return a
	}
	form, err := url.ParseQuery(words[2])
	testerr.Must(p, err)
	for name, values := range form {
		switch value := values[0]; name {
		case "key":
			a.keys = values
		case "no":
			a.keys = nil
		case "user":
			a.user = value
		case "body":
			a.body = value
		case "method":
			a.method = value
		default:
			a.more[http.CanonicalHeaderKey("X-"+name)] = values
		}
	}
	return a
}

// judge says what an answer is: its status, whether it was replayed, and the problem, the encoding
// or the text. A replayed answer has to be the first one.
func (p *play) judge(a ask, got answer) string {
	said, of := fmt.Sprint(got.status), a.user+" "+strings.Trim(strings.Join(a.keys, " "), `"`)
	var problem middleware.Problem
	_ = json.NewDecoder(bytes.NewReader([]byte(got.body))).Decode(&problem)
	slug, isProblem := strings.CutPrefix(problem.Type, middleware.ProblemType)
	first := p.first[of]
	switch {
	case isProblem:
		said += " " + slug
		if (slug == "idempotency-key-in-use") != (got.header.Get("Retry-After") != "") {
			p.Errorf("%s: Retry-After %q", said, got.header.Get("Retry-After"))
		}
	case a.more["X-Deaf"] != nil:
		p.first[of] = answer{body: whole}
	case !got.replayed:
		p.first[of] = got
	default:
		said += " again"
		if got.status != http.StatusNoContent && got.body != first.body || got.header.Get("Set-Cookie") != "" {
			p.Errorf("%s: first %q, then %q with %v", a.path, first.body, got.body, got.header)
		}
		for _, name := range []string{"Content-Type", "Content-Language", "Location", "X-Kept"} {
			recorded := name != "Location" && name != "X-Kept" || a.path != "/recorded"
			if recorded && first.header != nil && got.header.Get(name) != first.header.Get(name) {
				p.Errorf("%s: first with %v, then with %v", a.path, first.header, got.header)
			}
		}
	}
	if encoding := got.header.Get("Content-Encoding"); encoding != "" {
		said += " " + encoding
	}
	if strings.HasPrefix(a.path, "/errors") && got.status != http.StatusCreated {
		said += " " + got.body
	}
	return said
}
