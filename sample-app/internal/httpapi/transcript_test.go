package httpapi_test

import (
	"bytes"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

var record = flag.Bool("record", false, "write the answers into testdata/api.txt")

const transcript = "testdata/api.txt"

// Every route answers as testdata/api.txt says, on every database, and leaves a sound tree. Two
// instances answer in turn, so that what one has done is known to the other.
func TestTranscript(t *testing.T) {
	text, err := os.ReadFile(transcript)
	testerr.Must(t, err)
	defer http.DefaultClient.CloseIdleConnections()
	head, rest, _ := strings.Cut(string(text), "\n## ")
	backends := apitest.Backends(t)
	if *record {
		backends = backends[:1]
	}
	for _, backend := range backends {
		t.Run(backend.Name, func(t *testing.T) {
			config := instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true, Wait: 100 * time.Millisecond, AdminRelease: true, Namespace: "transcript-" + rand.Text()}
			instances := [2]*apitest.API{apitest.Start(t, config), apitest.Start(t, config)}
			recorded := head
			for number, part := range strings.Split(rest, "\n## ") {
				name, steps, _ := strings.Cut(part, "\n")
				t.Run(name, func(t *testing.T) {
					p := play{instances: instances, project: fmt.Sprintf("project%d", number), saved: map[string]string{"namespace": config.Namespace}}
					for key, id := range fixture(t, instances[0], p.project) {
						p.saved[key] = strconv.FormatInt(id, 10)
					}
					got := p.part(t, steps)
					if recorded += "\n## " + name + "\n" + got; !*record {
						compare(t, got, steps)
					}
					for _, plan := range []string{"plan", "other"} {
						if answer := instances[0].Do(t, "GET", "/api/plans/"+p.saved[plan]+"/fsck", ""); answer.Status == http.StatusOK && !strings.Contains(string(answer.Body), `"problems":[]`) {
							t.Errorf("the tree is left with %s", answer.Body)
						}
					}
				})
			}
			if *record && os.WriteFile(transcript, []byte(recorded), 0o644) != nil {
				t.Error("the answers cannot be written")
			}
		})
	}
}

// compare reports the answers that differ.
func compare(t *testing.T, got, want string) {
	t.Helper()
	gots, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	request := ""
	for i := range max(len(gots), len(wants)) {
		if i >= len(gots) || i >= len(wants) {
			t.Fatalf("%d lines, want %d", len(gots), len(wants))
		}
		if !strings.HasPrefix(wants[i], "  ") {
			request = wants[i]
		}
		if gots[i] != wants[i] {
			t.Errorf("%.200s\n got%.1000s\nwant%.1000s", request, gots[i], wants[i])
		}
	}
}

// play is one run through a part of the transcript.
type play struct {
	instances [2]*apitest.API
	project   string
	saved     map[string]string // ids and tokens by their names
	revisions []string
}

var (
	repeated  = regexp.MustCompile(`\{([^{}]+)\*(\d+)\}`)
	stepLine  = regexp.MustCompile(`^((?:\[[A-Z].*?: .*?\] )*)([A-Z]+) (\S+)(?: ([^=].*?))?(?: => (\w+))?$`)
	headers   = regexp.MustCompile(`\[([A-Z].*?): (.*?)\] `)
	longRun   = regexp.MustCompile(`n{60,}|a{60,}|😀{60,}`)
	deepPath  = regexp.MustCompile(`(?:/\{n\*250\}){2,}`)
	unfilled  = regexp.MustCompile(`\{[a-z]\w*\}`)
	keys      = regexp.MustCompile(`"key":"([^"]+)"`)
	saves     = regexp.MustCompile(`"(?:id|token)":"?([^",]+)`)
	untils    = regexp.MustCompile(`"until":"([^"]+)"`)
	revisions = regexp.MustCompile(`"revision":\d+`)
	varieties = []struct{ pattern, as string }{ // what differs from run to run
		{`"((?:[a-z]+_)?id)":\d+`, `"$1":#`},
		{`((?:suite|plan|case|item)s?) [1-9]\d*`, `$1 #`},
		{`"(since|now|deleted_at)":"[^"]+"`, `"$1":"TIME"`},
		{`"token":"[^"]+"`, `"token":"…"`},
		{`"fence":"?\d+"?`, `"fence":#`},
		{`"(key|owner|holder|instance|request_id)":"[^"]+"`, `"$1":"…"`},
		{`"id":"\d+"`, `"id":"#"`},
		{`(since|until) \d{4}-[0-9T:.Z+-]+`, `$1 TIME`},
		{`which has [A-Z]+ since`, `which has … since`}, // stores name one claim of several
		{`transcript-\w+/\d+`, `the plan`},
		{`transcript-\w+`, `{namespace}`},
	}
)

// part sends the requests of a part, and returns it with the answers below them.
func (p *play) part(t *testing.T, steps string) string {
	t.Helper()
	var out strings.Builder
	lines := strings.Split(steps+"\n", "\n")
	for i, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "  ") {
			continue // an answer
		}
		out.WriteString(line + "\n")
		if step := stepLine.FindStringSubmatch(line); step != nil {
			out.WriteString("  " + p.send(t, step, lines[i+1]) + "\n")
		} else if line != "" {
			t.Fatalf("no request: %s", line)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// filled replaces the names in braces.
func (p *play) filled(t *testing.T, api *apitest.API, text string) string {
	t.Helper()
	text = repeated.ReplaceAllStringFunc(text, func(all string) string {
		match := repeated.FindStringSubmatch(all)
		count, _ := strconv.Atoi(match[2])
		return strings.Repeat(match[1], count)
	})
	for name, value := range p.saved {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	text = strings.NewReplacer("{project}", p.project, "{host}", strings.TrimPrefix(api.URL, "http://")).Replace(text)
	if left := unfilled.FindString(text); left != "" {
		t.Errorf("nothing was kept as %s", left)
	}
	return text
}

// send sends the request of a line, and returns the answer as the transcript has it. want is the
// answer that stands there, if there is one.
func (p *play) send(t *testing.T, step []string, want string) string {
	t.Helper()
	api := p.instances[0]
	p.instances[0], p.instances[1] = p.instances[1], api
	req, err := http.NewRequestWithContext(t.Context(), step[2], api.URL+p.filled(t, api, step[3]), strings.NewReader(p.filled(t, api, step[4])))
	testerr.Must(t, err)
	for _, header := range headers.FindAllStringSubmatch(step[1], -1) {
		req.Header.Add(header[1], p.filled(t, api, header[2]))
	}
	req.Host = req.Header.Get("Host")
	var resp *http.Response
	var body []byte
	// A request's locks are released after its answer: wait until those of earlier requests are
	// gone. Instances wait for them, but not for long.
	mayBeLocked := want == "" || strings.HasPrefix(want, "  423 ")
	testserver.Await(t, "only suites' locks are left", func() bool {
		var err error
		req.Body, err = req.GetBody()
		testerr.Must(t, err)
		answer, err := http.DefaultClient.Do(req)
		testerr.Must(t, err)
		defer func() { _ = answer.Body.Close() }()
		if body, err = io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
		resp = answer
		if resp.StatusCode == http.StatusLocked && !mayBeLocked {
			return false
		}
		return !strings.HasSuffix(step[3], "/locks") || bytes.Count(body, []byte(`"fence"`)) == bytes.Count(body, []byte(`"detached":true`))
	})
	if isProblem := resp.Header.Get("Content-Type") == "application/problem+json"; isProblem != (resp.StatusCode >= 400) {
		t.Errorf("%s: %d %s", step[0], resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	// Browsers take answers for what they say they are, and keep none: some have tokens of locks.
	// They ask again and again for cases, and may keep those.
	keeps := "no-store"
	if step[2] == "GET" && resp.StatusCode == http.StatusOK && strings.HasSuffix(step[3], "/cases") {
		keeps = "private, no-cache"
	}
	if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Cache-Control") != keeps {
		t.Errorf("%s: %v", step[0], resp.Header)
	}
	all := keys.FindAllSubmatch(body, -1)
	if len(all) == 0 {
		all = saves.FindAllSubmatch(body, -1)
	}
	if step[5] != "" && len(all) > 0 {
		found := all[0]
		if strings.HasPrefix(string(body), `{"items"`) {
			found = all[len(all)-1]
		}
		p.saved[step[5]] = string(found[1])
	}
	text := strings.ReplaceAll(string(body), p.project, "{project}")
	// A lock that a client keeps lasts for minutes, a request's until its lease ends.
	text = untils.ReplaceAllStringFunc(text, func(until string) string {
		at, err := time.Parse(time.RFC3339, untils.FindStringSubmatch(until)[1])
		if left := time.Until(at); err == nil && left > 31*time.Second {
			return fmt.Sprintf(`"until":"in %v"`, left.Round(time.Minute))
		}
		return `"until":"TIME"`
	})
	text = revisions.ReplaceAllStringFunc(text, func(revision string) string {
		if !slices.Contains(p.revisions, revision) {
			p.revisions = append(p.revisions, revision)
		}
		return fmt.Sprintf(`"revision":"the %d."`, 1+slices.Index(p.revisions, revision))
	})
	for _, v := range varieties {
		text = regexp.MustCompile(v.pattern).ReplaceAllString(text, v.as)
	}
	text = longRun.ReplaceAllStringFunc(text, func(run string) string {
		first := []rune(run)[0]
		return fmt.Sprintf("{%c*%d}", first, len(run)/len(string(first)))
	})
	text = deepPath.ReplaceAllStringFunc(text, func(path string) string { return fmt.Sprintf("/{n*250}, %d times", strings.Count(path, "/")) })
	status := strconv.Itoa(resp.StatusCode)
	if resp.Close {
		status += " closes"
	}
	if resp.Header.Get(idempotency.ReplayedHeader) == "true" {
		status += " replayed"
	}
	return strings.TrimRight(status+" "+strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "), " ")
}
