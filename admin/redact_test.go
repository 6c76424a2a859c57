package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/admin"
)

// What is redacted is in no answer, and not in the log of a release.
func TestTheLogOfAReleaseIsRedacted(t *testing.T) {
	config := anybody()
	config.Redact = func(kind admin.Kind, _ string) string {
		return map[admin.Kind]string{admin.KindName: "name", admin.KindNote: "note"}[kind]
	}
	f := newFixture(t, config)
	lock := f.hold("/secret-name", "secret-note")
	if r := f.release(f.body("note")); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	<-lock.Context().Done()
	for line := range strings.SplitSeq(f.log.String(), "\n") {
		if strings.Contains(line, "pathlock admin:") && strings.Contains(line, "secret") {
			t.Errorf("the log has %s", line)
		}
	}
}

// A name that is redacted to nothing is still the name of a node below others.
func TestANameThatIsRedactedToNothingStaysAName(t *testing.T) {
	config := anybody()
	config.Redact = func(kind admin.Kind, text string) string {
		if kind == admin.KindNote {
			return text
		}
		return ""
	}
	f := newFixture(t, config)
	f.hold("/secret/below", "note")
	entry := f.await(func(s shownTree) bool { return s.has("note") }).entry(t, "note")
	if got := entry.Claims[len(entry.Claims)-1]; got.Path != "/…/…" || got.Mode != "X" {
		t.Errorf("shown is %s %s, want X /…/…", got.Mode, got.Path)
	}
}

// A name with which Config.Redact panics hides nothing but itself, and the log says what to mend.
func TestARedactThatPanicsHidesNoTree(t *testing.T) {
	config := anybody()
	config.Redact = func(_ admin.Kind, text string) string {
		if strings.HasPrefix(text, "evil") {
			panic("no rule for this")
		}
		return "r-" + text
	}
	f := newFixture(t, config)
	f.hold("/a/evil/1", "first")
	f.hold("/a/evil/2", "evil note")
	f.hold("/a/evil2", "third")
	s := f.await(func(s shownTree) bool { return len(s.Entries) == 3 })
	parent := func(e shownEntry) string {
		last := e.Claims[len(e.Claims)-1].Path
		return last[:strings.LastIndexByte(last, '/')]
	}
	first, third := s.entry(t, "r-first"), s.entry(t, "r-third")
	if !strings.HasPrefix(parent(first), "/r-a/redact-failed-") || third.Claims[len(third.Claims)-1].Path == parent(first) {
		t.Errorf("shown are %+v and %+v", first, third)
	}
	for _, e := range s.Entries {
		if strings.HasPrefix(e.Note, "redact-failed-") && parent(e) != parent(first) {
			t.Errorf("one name has two texts: %s and %s", parent(e), parent(first))
		}
		for _, c := range e.Claims {
			if strings.Contains(c.Path, "evil") {
				t.Errorf("not redacted: %s", c.Path)
			}
		}
	}
	log := f.log.String()
	if !strings.Contains(log, "Config.Redact panicked") || !strings.Contains(log, "no rule for this") || !strings.Contains(log, "redact_test.go") {
		t.Errorf("the log: %s", log)
	}
	if n := strings.Count(log, "Config.Redact panicked"); n > 10 {
		t.Errorf("the log has %d lines of it", n)
	}
}
