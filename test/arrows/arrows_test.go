// Package arrows tests which package may import which.
package arrows

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

const root = "github.com/pathlock-go/pathlock"

// layers has for each package what it may import of this repository and of gin and gorm. The first
// line that names a package counts. "…" means all packages below, "." the package at the root.
const layers = `
.:                             internal/…
internal/queue:
internal/…:                    . internal/…
lockspec:                      . internal/…
election, contention:          . internal/…
admin:                         . contention internal/…
promobserver, otelobserver:    . internal/label
middleware:                    . lockspec internal/… gin
gormplugin/internal/rawsql:    internal/dialect
gormplugin/internal/fault:     . lockspec internal/…
gormplugin/internal/plan:      . gormplugin/internal/fault internal/…
gormplugin/internal/txn:       . gormplugin/internal/fault gormplugin/internal/rawsql internal/… gorm
gormplugin/internal/table:     . gormplugin/internal/txn gormplugin/internal/plan gormplugin/internal/fault gormplugin/internal/rawsql internal/… gorm
gormplugin/internal/write:     . gormplugin/internal/table gormplugin/internal/txn gormplugin/internal/plan gormplugin/internal/fault internal/… gorm
gormplugin:                    . lockspec gormplugin/internal/… internal/… gorm
fsck:                          . internal/…
idempotency:                   . gormplugin middleware internal/… gin gorm
store/internal/locktable:      . internal/queue
store/memstore:                . store/internal/locktable
store/ticketstore:             . internal/lease store/internal/locktable
store/offstore:                .
store/quorum:                  .
store/redisstore:              . internal/lease internal/storeurl
store/sqlstore/…:              . internal/… store/ticketstore store/internal/… store/sqlstore
store/zkstore/…:               . internal/… store/ticketstore store/internal/…
store/etcdstore/…:             . internal/… store/ticketstore store/internal/…
store/anystore:                . internal/storeurl store/memstore store/offstore store/quorum
cmd/pathlock/…:                . internal/… store/… cmd/pathlock/… election fsck
sample-app/…:                  . internal/… store/… sample-app/… admin contention fsck/… gormplugin idempotency lockspec middleware otelobserver promobserver gin gorm
`

// drive are the packages that only tests link: they may import everything.
var drive = regexp.MustCompile(`(^|/)(integration|bench|proof|test|storetest|testdb|[a-z]+test|test[a-z]+)(/|$)`)

func TestArrows(t *testing.T) {
	modules, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Path}}/...").Output()
	testerr.Must(t, err)
	list := append([]string{"list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}"}, strings.Fields(string(modules))...)
	packages, err := exec.CommandContext(t.Context(), "go", list...).Output()
	testerr.Must(t, err)
	for line := range strings.Lines(string(packages)) {
		names := strings.Fields(line)
		from := short(names[0])
		if drive.MatchString(from) {
			continue
		}
		may, known := allowed(from)
		if !known {
			t.Errorf("%s is on no layer: give it a line", from)
		}
		for _, name := range names[1:] {
			if to := short(name); to != "" && !slices.ContainsFunc(may, func(pattern string) bool { return matches(pattern, to) }) {
				t.Errorf("%s imports %s; it may import: %s", from, to, strings.Join(may, " "))
			}
		}
	}
}

// allowed returns what a package may import.
func allowed(from string) (may []string, known bool) {
	for line := range strings.Lines(layers) {
		names, may, _ := strings.Cut(line, ":")
		for name := range strings.SplitSeq(names, ", ") {
			if matches(name, from) {
				return strings.Fields(may), true
			}
		}
	}
	return nil, false
}

// short returns the name of a package as layers has it, "" for the standard library and others'.
func short(name string) string {
	switch below, ours := strings.CutPrefix(name, root); {
	case ours && below == "":
		return "."
	case ours:
		return strings.TrimPrefix(below, "/")
	case strings.HasPrefix(name, "github.com/gin-gonic/gin"):
		return "gin"
	case strings.HasPrefix(name, "gorm.io/gorm"):
		return "gorm"
	}
	return ""
}

func matches(pattern, name string) bool {
	below, all := strings.CutSuffix(pattern, "/…")
	return name == pattern || all && (name == below || strings.HasPrefix(name, below+"/"))
}
