package samplepage

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

var browser chromium.Browser

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(browser.Main(m, program.Remove, http.DefaultClient.CloseIdleConnections))
}

// transcript is a file of testdata: what people do in their windows, and what they see there then.
type transcript struct {
	testing.TB
	here, there string // URLs of the instances, which may be the same
	namespace   string // of two instances
	windows     map[string]*window
	plans       int64
	// ids are those of the plans, of their root suites and of their suites, by path, and of what
	// was made last.
	ids   map[string]int64
	token string // of the last lock that somebody told
}

// The transcripts say what the page does. They know
//
//	two                          two instances on MySQL and Redis, instead of one
//	plan PATH…                   a plan with suites, whose ids are then {PATH}, {plan} and {root}
//	use ID                       a plan that the page has made
//	open WINDOW [PERSON]         a window on the first plan: here or there
//	beside WINDOW OTHER          another window of the same person
//	WINDOW VERB ARGUMENT…        the verbs are the methods of chromium.Tab, and those of window
//	ask STATUS METHOD PATH BODY  a request of a program
//	holder STATUS METHOD …       the same by who has the lock whose token was told
//	gate                         a program without pathlock takes the plan in the Redis of the two
func TestPage_transcripts(t *testing.T) {
	commands := map[string]func(*transcript, *testscript.TestScript, []string){
		"two": (*transcript).two, "plan": (*transcript).plan, "use": (*transcript).use, "open": (*transcript).open, "beside": (*transcript).beside,
		"ask": func(s *transcript, ts *testscript.TestScript, args []string) { s.ask(ts, "", args) }, "holder": (*transcript).holder,
		"gate": (*transcript).gate,
	}
	for _, name := range []string{"here", "there", "second"} {
		commands[name] = func(s *transcript, ts *testscript.TestScript, args []string) { chromium.Do(ts, s.windows[name], args) }
	}
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, command := range commands {
		cmds[name] = func(ts *testscript.TestScript, _ bool, args []string) {
			s := ts.Value("transcript").(*transcript)
			for i := range args {
				args[i] = s.filled(args[i])
			}
			command(s, ts, args)
		}
	}
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: cmds, Setup: func(env *testscript.Env) error {
		env.Values["transcript"] = &transcript{TB: env.T().(testing.TB), windows: map[string]*window{}, ids: map[string]int64{}}
		return nil
	}})
}

// filled has ids in place of what stands in braces.
func (s *transcript) filled(text string) string {
	for path, id := range s.ids {
		text = strings.ReplaceAll(text, "{"+path+"}", strconv.FormatInt(id, 10))
	}
	return text
}

// serve starts an instance, with an SQLite file and locks in memory unless the flags say otherwise.
// In the end, the trees of its plans have to be right.
func (s *transcript) serve(args ...string) string {
	url := "http://" + program.Serve(s.TB, program.Build(s.TB, "sample-app"), args...)
	s.Cleanup(func() {
		var made struct{ Plans []struct{ ID int64 } }
		_, answer := s.send("GET", url+"/api/projects/demo/plans", "", "")
		testerr.None(s, json.Unmarshal(answer, &made))
		for _, plan := range made.Plans {
			if _, found := s.send("GET", fmt.Sprintf("%s/api/plans/%d/fsck", url, plan.ID), "", ""); !bytes.Contains(found, []byte(`"problems":[]`)) {
				s.Errorf("plan %d is left with %s", plan.ID, found)
			}
		}
	})
	return url
}

func (s *transcript) two(*testscript.TestScript, []string) {
	s.namespace = "page" + rand.Text()
	args := []string{"--db", "mysql://" + testserver.MySQLServer{DSN: testserver.MySQL(s.TB)}.Scratch(s.TB), "--locks", testserver.Redis(s.TB), "--namespace", s.namespace}
	s.here, s.there = s.serve(args...), s.serve(args...)
}

func (s *transcript) gate(*testscript.TestScript, []string) {
	options, err := redis.ParseURL(testserver.Redis(s.TB))
	testerr.Must(s, err)
	client := redis.NewClient(options)
	tree, err := pathlock.NewTree(s.namespace, strconv.FormatInt(s.ids["plan"], 10))
	testerr.Must(s, err)
	testerr.Must(s, errors.Join(client.Set(context.Background(), redisstore.GateKey(tree), "another's token", time.Minute).Err(), client.Close()))
}

// send sends a request, as a program does that is no browser, with the token of a lock or none.
func (s *transcript) send(method, url, body, token string) (status int, answer []byte) {
	request, err := http.NewRequestWithContext(context.WithoutCancel(s.Context()), method, url, strings.NewReader(body))
	testerr.Must(s, err)
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Lock-Token", token)
	}
	response, err := http.DefaultClient.Do(request)
	testerr.Must(s, err)
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	testerr.Must(s, err)
	return response.StatusCode, answer
}

func (s *transcript) ask(ts *testscript.TestScript, token string, args []string) {
	status, answer := s.send(args[1], s.here+args[2], strings.Join(args[3:], ""), token)
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("%d %s", status, answer)
	}
	var made struct {
		ID     int64
		RootID int64 `json:"root_id"`
	}
	if json.Unmarshal(answer, &made) == nil {
		s.ids["last"], s.ids["last root"] = made.ID, made.RootID
	}
	_, _ = ts.Stdout().Write(answer)
}

func (s *transcript) holder(ts *testscript.TestScript, args []string) { s.ask(ts, s.token, args) }

// ranged matches a range of numbers in a path, such as {00-99}.
var ranged = regexp.MustCompile(`\{(\d+)-(\d+)\}`)

// paths are the paths of a text with ranges.
func paths(text string) (all []string) {
	found := ranged.FindStringSubmatch(text)
	if found == nil {
		return []string{text}
	}
	first, _ := strconv.Atoi(found[1])
	last, _ := strconv.Atoi(found[2])
	for n := first; n <= last; n++ {
		all = append(all, paths(strings.Replace(text, found[0], fmt.Sprintf("%0*d", len(found[1]), n), 1))...)
	}
	return all
}

func (s *transcript) plan(ts *testscript.TestScript, args []string) {
	if s.here == "" {
		s.here = s.serve()
		s.there = s.here
	}
	name := []string{"plan", "plan2"}[s.plans]
	s.ask(ts, "", []string{"201", "POST", "/api/projects/demo/plans", `{"name":"` + name + `"}`})
	var suites []string
	for _, text := range args {
		suites = append(suites, paths(text)...)
	}
	id := s.ids["last"]
	for start := 0; start < len(suites); start += 1000 {
		some, err := json.Marshal(map[string]any{"suites": suites[start:min(len(suites), start+1000)]})
		testerr.Must(s, err)
		s.ask(ts, "", []string{"200", "POST", fmt.Sprintf("/api/plans/%d/import", id), string(some)})
	}
	s.use(ts, []string{strconv.FormatInt(id, 10)})
}

func (s *transcript) use(_ *testscript.TestScript, args []string) {
	number := []string{"", "2"}[s.plans]
	s.plans++
	var tree struct {
		Suites []struct {
			ID   int64
			Path string
		}
	}
	_, answer := s.send("GET", s.here+"/api/plans/"+args[0]+"/tree", "", "")
	testerr.Must(s, json.Unmarshal(answer, &tree))
	for _, suite := range tree.Suites {
		if suite.Path == "" {
			suite.Path = "/root" + number
		}
		s.ids[suite.Path[1:]] = suite.ID
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	testerr.Must(s, err)
	s.ids["plan"+number] = id
}
