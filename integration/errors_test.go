package integration

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Why an error is answered by 500: who sends the request can do nothing about it.
const (
	programs = "internal: the program is to blame"
	rows     = "internal: the database's rows are to blame"
	starts   = "internal: no request gets it, only who starts the program"
	jobs     = "internal: no request gets it, only Once"
)

// answers has the ends of the problems by which the errors are answered that a program may hand to
// [middleware.Locks.Fail].
func answers() map[string]map[string]answer {
	return map[string]map[string]answer{
		".": {
			"ErrConflict":       {pathlock.ErrConflict, "locked"},
			"ErrQueueFull":      {pathlock.ErrQueueFull, "locked"},
			"ErrDeadlock":       {pathlock.ErrDeadlock, "locked"},
			"ErrLost":           {pathlock.ErrLost, "lock-store-unavailable"},
			"ErrHeldTooLong":    {pathlock.ErrHeldTooLong, "timeout"},
			"ErrNotHeld":        {pathlock.ErrNotHeld, programs},
			"ErrUnavailable":    {pathlock.ErrUnavailable, "lock-store-unavailable"},
			"ErrClosed":         {pathlock.ErrClosed, "lock-store-unavailable"},
			"ErrInvalidPath":    {pathlock.ErrInvalidPath, "invalid-request"},
			"ErrInvalidTree":    {pathlock.ErrInvalidTree, "invalid-request"},
			"ErrInvalidRequest": {pathlock.ErrInvalidRequest, "invalid-request"},
			"ErrInvalidToken":   {pathlock.ErrInvalidToken, "invalid-request"},
			"ErrInvalidID":      {pathlock.ErrInvalidID, "invalid-request"},
			"ErrPathChanged":    {pathlock.ErrPathChanged, "path-changed"},
			"ErrNotFound":       {pathlock.ErrNotFound, "not-found"},
			"ConflictError":     {&pathlock.ConflictError{}, "locked"},
			"DeadlockError":     {&pathlock.DeadlockError{}, "locked"},
		},
		"gormplugin": {
			"ErrRetry":                 {gormplugin.ErrRetry, "locked"},
			"ErrOutcomeUnknown":        {gormplugin.ErrOutcomeUnknown, "outcome-unknown"},
			"ErrNameTaken":             {gormplugin.ErrNameTaken, "name-taken"},
			"ErrMisplaced":             {gormplugin.ErrMisplaced, "invalid-request"},
			"ErrRootRow":               {gormplugin.ErrRootRow, "invalid-request"},
			"ErrWouldCycle":            {gormplugin.ErrWouldCycle, "would-cycle"},
			"ErrPathTooLong":           {gormplugin.ErrPathTooLong, "invalid-request"},
			"ErrUnmanagedTransaction":  {gormplugin.ErrUnmanagedTransaction, programs},
			"ErrUnsupported":           {gormplugin.ErrUnsupported, programs},
			"ErrStale":                 {gormplugin.ErrStale, "stale"},
			"ErrDamagedRow":            {gormplugin.ErrDamagedRow, rows},
			"ErrMissedRows":            {gormplugin.ErrMissedRows, programs},
			"ErrCallbacks":             {gormplugin.ErrCallbacks, programs},
			"ErrNoRequestContext":      {gormplugin.ErrNoRequestContext, programs},
			"ErrIsolation":             {gormplugin.ErrIsolation, "database-unavailable"},
			"ErrUnsupportedDatabase":   {gormplugin.ErrUnsupportedDatabase, "database-unavailable"},
			"ErrUnsafeSchema":          {gormplugin.ErrUnsafeSchema, starts},
			"ErrOtherLocks":            {gormplugin.ErrOtherLocks, starts},
			"PathChangedError":         {&gormplugin.PathChangedError{}, "path-changed"},
			"NameTakenError":           {&gormplugin.NameTakenError{}, "name-taken"},
			"TooDeepError":             {&gormplugin.TooDeepError{}, "invalid-request"},
			"RootRowError":             {&gormplugin.RootRowError{}, "invalid-request"},
			"MisplacedError":           {&gormplugin.MisplacedError{}, "invalid-request"},
			"DamagedRowError":          {&gormplugin.DamagedRowError{Err: pathlock.ErrInvalidPath}, rows},
			"RowError":                 {&gormplugin.RowError{Err: pathlock.ErrNotFound}, "not-found"},
			"MissedRowsError":          {&gormplugin.MissedRowsError{}, programs},
			"UnsupportedDatabaseError": {&gormplugin.UnsupportedDatabaseError{}, "database-unavailable"},
			"RawWriteError":            {&gormplugin.RawWriteError{}, programs},
			"TransactionEndError":      {&gormplugin.TransactionEndError{}, programs},
			"SchemaError":              {&gormplugin.SchemaError{}, starts},
		},
		"lockspec": {
			"ErrInvalid":    {lockspec.ErrInvalid, "invalid-request"},
			"ErrWouldCycle": {lockspec.ErrWouldCycle, "would-cycle"},
			"ErrNull":       {lockspec.ErrNull, programs},
			"ErrSpec":       {lockspec.ErrSpec, starts},
			"InvalidError":  {&lockspec.InvalidError{Err: lockspec.ErrNull}, "invalid-request"},
		},
		"idempotency": {
			"ErrInUse":     {idempotency.ErrInUse, jobs},
			"ErrReused":    {idempotency.ErrReused, jobs},
			"ErrTakenOver": {idempotency.ErrTakenOver, programs},
			"ErrEnded":     {idempotency.ErrEnded, programs},
			"ErrElsewhere": {idempotency.ErrElsewhere, programs},
		},
		"store/anystore": {"ErrURL": {anystore.ErrURL, starts}},
		"store/sqlstore": {"ErrTables": {sqlstore.ErrTables, starts}, "ErrNoTable": {sqlstore.ErrNoTable, starts}},
		"store/quorum": {
			"ErrMembers":    {quorum.ErrMembers, starts},
			"MajorityError": {&quorum.MajorityError{}, "lock-store-unavailable"},
		},
	}
}

// onPage are the packages whose errors handlers hand to [middleware.Locks.Fail].
var onPage = []string{".", "gormplugin", "lockspec"}

// answer is an error, and the end of the problem that answers it.
type answer struct {
	err  error
	kind string
}

// Each error that a package exports has an answer, or a reason why it has none. The page's table of
// answers names those that a handler may get.
func TestErrors_AreAnswered(t *testing.T) {
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, gormplugin.Model(&gormplugintest.Suite{}))
	databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "")), plugin)
	locks := middleware.New(locker, plugin.Resolver(&gormplugintest.Suite{}), middleware.Config{})
	retries := []string{"locked", "lock-store-unavailable", "database-unavailable", "timeout"}
	wanted := answers()
	stores, err := filepath.Glob("../store/*")
	testerr.Must(t, err)
	page, err := os.ReadFile("../docs/middleware.md")
	testerr.Must(t, err)
	packages := slices.Collect(maps.Keys(wanted))
	for _, store := range stores {
		packages = append(packages, strings.TrimPrefix(store, "../"))
	}
	for _, name := range packages {
		declared := errorsOf(t, filepath.Join("..", name))
		for e, a := range wanted[name] {
			if !slices.Contains(declared, e) {
				t.Errorf("%s.%s is there no more", name, e)
			}
			if slug, why, _ := strings.Cut(a.kind, ": "); strings.HasPrefix(e, "Err") && slices.Contains(onPage, name) && !strings.HasPrefix(why, "no request") && e != "ErrNull" {
				if row := regexp.MustCompile("(?m)^.*\\| `" + slug + "` \\|.*[`.]" + e + "`"); !row.Match(page) {
					t.Errorf("the page's row of %s lacks %s.%s", slug, name, e)
				}
			}
			p := locks.ProblemOf(a.err)
			switch {
			case a.err == nil || p == nil && strings.HasPrefix(a.kind, "internal: "):
			case p == nil || p.Slug() != a.kind:
				t.Errorf("%s.%s is answered by %v, want %s", name, e, p, a.kind)
			case p.Status < http.StatusBadRequest || (p.RetryAfter > 0) != slices.Contains(retries, a.kind):
				t.Errorf("%s.%s is answered by %v, to be sent again after %v", name, e, p, p.RetryAfter)
			}
		}
		for _, e := range declared {
			if _, ok := wanted[name][e]; !ok {
				t.Errorf("%s.%s has no row: which answer does it get?", name, e)
			}
		}
	}
}

// exported matches the declaration of an error, or of a type of errors.
var exported = regexp.MustCompile(`(?m)^(?:var |\t)(Err[A-Z]\w*) +=|^type ([A-Z]\w*Error) `)

// errorsOf returns the exported errors of a package, and the types of errors, as its source
// declares them.
func errorsOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	testerr.Must(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		testerr.Must(t, err)
		for _, found := range exported.FindAllStringSubmatch(string(source), -1) {
			names = append(names, found[1]+found[2])
		}
	}
	return names
}
