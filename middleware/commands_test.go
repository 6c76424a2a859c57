package middleware_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// configure sets what words say, and starts anew.
func (s *stage) configure(c *testlock.Call) {
	s.config.MaxHold, s.config.Wait = c.Option(s.fixture, "hold", 0), c.Option(s.fixture, "wait", pathlock.NoWait)
	s.config.RetryAfter, s.config.Authorize = c.Option(s.fixture, "retry", 0), authorizations[c.Options["authorize"]]
	switch c.Options["token"] {
	case "none":
		s.config.Token = middleware.NoToken
	case "If":
		s.config.Token = func(r *http.Request) pathlock.Token { return pathlock.Token(r.Header.Get("If")) }
	}
	if c.Options["retries"] != "" {
		s.config.Retry = func() middleware.RetryStrategy { return new(pauses(2)) }
	}
	if s.config.OnError = nil; c.Options["onerror"] == "panics" {
		s.config.OnError = func(*gin.Context, error) { panic("in OnError") }
	}
	if s.config.JSONTypes = nil; c.Options["json"] != "" {
		s.config.JSONTypes = []string{c.Options["json"]}
	}
	if s.config.MaxBody = 0; c.Options["body"] != "" {
		s.config.MaxBody = 1000
	}
	s.start(map[string]func(lockspec.Spec) lockspec.Spec{"": lockspec.Spec.ParentExclusive, "asserted": lockspec.Spec.Asserted, "named": func(s lockspec.Spec) lockspec.Spec { return s }}[cmp.Or(c.Options["specs"], "named")])
}

var (
	requestLine = regexp.MustCompile(`^([A-Z]+) (\S+)(?: ([^\[ ].*?))?((?: \[[A-Z][\w-]*: [^\]]*\])*)$`)
	headerPart  = regexp.MustCompile(`\[([\w-]+): ([^\]]*)\]`)
	thingPart   = regexp.MustCompile(`\{(\w+)\}`)
)

// request sends the request of a line. In braces stand the names of tokens, and of long texts.
func (s *stage) request(line []string) *answer {
	fill := func(text string) string {
		return thingPart.ReplaceAllStringFunc(text, func(name string) string { return fmt.Sprint(cmp.Or(s.Things[name[1:len(name)-1]], any(name))) })
	}
	ctx, leave := context.WithCancelCause(context.Background())
	s.leave = leave
	r := httptest.NewRequestWithContext(ctx, line[1], line[2], strings.NewReader(strings.ReplaceAll(fill(line[3]), `\r\n`, "\r\n")))
	for _, header := range headerPart.FindAllStringSubmatch(line[4], -1) {
		r.Header.Add(header[1], fill(header[2]))
	}
	return &answer{s.fixture, s.serveRequest(r)}
}

// answer is expected by its status, the end of its problem's type, and parts of its body in
// backticks.
type answer struct {
	*fixture
	*httptest.ResponseRecorder
}

var expected = regexp.MustCompile("`[^`]*`|\\S+")

// Fits implements [testlock.Fitting].
func (a *answer) Fits(want string) bool {
	a.Log(a.Code, a.Body)
	for i, word := range expected.FindAllString(want, -1) {
		part, quoted := strings.CutPrefix(word, "`")
		switch {
		case i == 0 && fmt.Sprint(a.Code) != word:
			return false
		case quoted && !strings.Contains(a.Body.String(), strings.TrimSuffix(part, "`")):
			return false
		case i > 0 && !quoted && a.problem(a.ResponseRecorder).Type != middleware.ProblemType+word:
			return false
		}
	}
	return true
}

// run runs a command.
func (s *stage) run(c *testlock.Call) (any, error) {
	if line := requestLine.FindStringSubmatch(c.Text); line != nil {
		return s.request(line), nil
	}
	name := ""
	if len(c.Words) > 1 {
		name = c.Words[1]
	}
	switch c.Words[0] {
	case "config":
		s.configure(c)
	case "handler":
		does := maps.Clone(c.Options)
		s.handler = func(c *gin.Context) { s.handle(c, does) }
	case "hold":
		return s.detached(treeOf("testplan", cmp.Or(c.Options["plan"], "1")), name), nil
	case "end":
		s.end(s.Things[name].(pathlock.Token))
	case "lock":
		return s.acquire(name), nil
	case "release":
		s.release(s.Things[name].(*pathlock.Lock))
	case "holds":
		held := s.held()
		slices.Sort(held)
		return strings.Join(slices.Compact(held), ", "), nil
	case "trees":
		trees, err := s.locker.Trees(context.Background())
		return len(trees), err
	default:
		return s.look(c, name)
	}
	return nil, nil
}

// look runs a command on nodes, or one that tells what has happened.
func (s *stage) look(c *testlock.Call, name string) (any, error) {
	switch c.Words[0] {
	case "leave":
		s.leave(nil)
	case "move":
		s.nodes.move(name, c.Words[2])
	case "moves": // after a look
		s.nodes.looks = 0
		s.nodes.after = func(id string, looks int) {
			if looks < len(c.Words) {
				s.nodes.move(id, c.Words[looks])
			}
		}
	case "panics": // after a look; before, node 3 moves
		s.nodes.after = func(_ string, looks int) {
			if fmt.Sprint(looks) == name {
				panic("in the resolver")
			}
			s.nodes.move("3", strings.Join(c.Words[2:], ""))
		}
	case "slow":
		s.store.Set(at("acquire", func() { time.Sleep(c.Time(s.fixture, 1)) }))
	case "leaving": // once a hold is detached
		s.store.Set(at("transferred", func() { s.leave(nil) }))
	case "served":
		served := s.served
		s.served = nil
		return cmp.Or(strings.Join(served, " + "), "nothing"), nil
	case "looks":
		looks := s.nodes.looks
		s.nodes.looks = 0
		return looks, nil
	case "asked":
		made := map[string]int{}
		for _, call := range s.store.Calls() {
			verb, _, _ := strings.Cut(call, " ")
			made[verb]++
		}
		return fmt.Sprintf("%d granted, %d released", made["acquire"], made["release"]), nil
	case "steps":
		return regexp.MustCompile(`(path changed|a panic)[^+]*( \+|$)`).ReplaceAllString(strings.Join(s.seen.steps, " + "), "$1$2"), nil
	case "logged":
		return strings.Join(regexp.MustCompile(`level=\w+`).FindAllString(s.log.String(), -1), " "), nil
	case "answered":
		return len(s.seen.answered), nil
	case "clock":
		return time.Since(s.began), nil
	case "retry-after":
		return s.Things[name].(*answer).Header().Get("Retry-After"), nil
	case "given":
		return pathlock.Token(s.Things[name].(*answer).Header().Get(middleware.TokenHeader)), nil
	default:
		s.fixture.Fatalf("what is %s?", c.Text)
	}
	return nil, nil
}

// at does something at each of some calls of a store.
func at(call string, do func()) testlock.Hook {
	return func(_ context.Context, made string) error {
		if made == call {
			do()
		}
		return nil
	}
}
