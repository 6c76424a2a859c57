package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestNamesThatFoldAlikeMeet(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /Plan/Login")
	_, err := l.Acquire(t.Context(), request(t, "X /plan/LOGIN/Sub"))
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok {
		t.Fatalf("error %v, want a ConflictError", err)
	}
	if got := conflict.Path.String(); got != "/plan/LOGIN" {
		t.Errorf("the error names %q, want the path as the caller wrote it", got)
	}
	if conflict.Mode != pathlock.ModeIX || conflict.Blocker.Mode != pathlock.ModeX || conflict.Blocker.Note != "X /Plan/Login" {
		t.Errorf("the error says %+v", conflict)
	}
	release(t, lock)

	exact, _ := newLocker(pathlock.WithFold(pathlock.FoldNothing))
	lock = acquire(t.Context(), t, exact, "X /a")
	free(t, exact, "X /A", true)
	release(t, lock)
}

func TestAFoldThatMakesNoNameIsRefused(t *testing.T) {
	for _, made := range []string{"", "a/b", ".."} {
		l, store := newLocker(pathlock.WithFold(func(string) string { return made }))
		_, err := l.Acquire(t.Context(), request(t, "X /n"))
		if !errors.Is(err, pathlock.ErrInvalidPath) || len(store.called()) != 0 {
			t.Errorf("a fold to %q: %v", made, err)
		}
	}
}

func TestRequestsThatMakeNoSenseAreRefusedBeforeTheStore(t *testing.T) {
	valid := request(t, "X /a")
	for _, tt := range []struct {
		what  string
		spoil func(*pathlock.Request)
		want  error
		says  string
	}{
		{"no tree", func(r *pathlock.Request) { r.Tree = pathlock.Tree{} }, pathlock.ErrInvalidTree, "no tree"},
		{"nothing asked for", func(r *pathlock.Request) { r.Claims = nil }, pathlock.ErrInvalidRequest, "neither claims nor the gate"},
		{"unknown mode", func(r *pathlock.Request) { r.Claims = []pathlock.Claim{{Mode: 77}} }, pathlock.ErrInvalidRequest, "mode"},
		{"negative wait", func(r *pathlock.Request) { r.Wait = -2 }, pathlock.ErrInvalidRequest, "wait"},
		{"lease too short", func(r *pathlock.Request) { r.Lease = time.Millisecond }, pathlock.ErrInvalidRequest, "10ms"},
		{"note too long", func(r *pathlock.Request) { r.Note = strings.Repeat("x", pathlock.MaxNoteBytes+1) }, pathlock.ErrInvalidRequest, "513 bytes"},
		{"note not UTF-8", func(r *pathlock.Request) { r.Note = "\xff" }, pathlock.ErrInvalidRequest, "UTF-8"},
		{"too many claims", func(r *pathlock.Request) { r.Claims = make([]pathlock.Claim, pathlock.MaxNodes+1) }, pathlock.ErrInvalidRequest, "4097"},
		{"too many nodes", func(r *pathlock.Request) {
			r.Claims = nil
			for i := range 2049 {
				r.Claims = append(r.Claims, pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/p%d/c", i))))
			}
		}, pathlock.ErrInvalidRequest, "4099 nodes"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			l, store := newLocker()
			req := valid
			tt.spoil(&req)
			_, err := l.Acquire(t.Context(), req)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that matches %q and says %q", err, tt.want, tt.says)
			}
			if calls := store.called(); len(calls) != 0 {
				t.Errorf("the store was asked: %v", calls)
			}
		})
	}
}

func TestAcquireUnderAnEndedContextAsksNothing(t *testing.T) {
	l, store := newLocker()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("closing time")
	cancel(why)
	_, err := l.Acquire(ctx, request(t, "X /a"))
	if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || len(store.called()) != 0 {
		t.Errorf("error %v, want the context's error, its cause, and no call", err)
	}
}

func TestDefaultsOfWaitAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker(pathlock.WithWait(3 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		begun := time.Now()
		req := request(t, "X /a")
		req.Wait = 0
		_, err := l.Acquire(t.Context(), req)
		conflict, ok := errors.AsType[*pathlock.ConflictError](err)
		if !ok || time.Since(begun) != 3*time.Second || conflict.Waited != 3*time.Second {
			t.Errorf("waited %v: %v", time.Since(begun), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		begun = time.Now()
		_, err = l.Acquire(ctx, req)
		if !errors.Is(err, pathlock.ErrConflict) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("under a deadline, waited %v: %v", time.Since(begun), err)
		}
		release(t, lock)
	})
}

// A caller may use its slice of claims again once Acquire has returned.
func TestALockKeepsNoClaimsOfItsCallers(t *testing.T) {
	j := &journal{}
	l, _ := newLocker(pathlock.WithObserver(j))
	req := request(t, "X /a, X /b")
	outer, err := l.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := l.Acquire(outer.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Claims[0], req.Claims[1] = pathlock.S(pathlock.MustParsePath("/z")), pathlock.S(pathlock.MustParsePath("/z"))
	release(t, inner)
	free(t, l, "X /a", false)
	release(t, outer)
	for _, want := range []string{"released X /a, X /b", "released X /a, X /b (re-entrant)"} {
		if !slices.Contains(j.events, want) {
			t.Errorf("not among %q: %q", j.events, want)
		}
	}
}

// A program can ask at start whether the options of its locker make sense, and hears then what the
// first request would have been refused with.
func TestCheckRefusesWhatEveryRequestWouldBeRefusedWith(t *testing.T) {
	tree, err := pathlock.NewTree("check", "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		option pathlock.Option
		says   string // "" is that it makes sense
	}{
		{"the shortest lease", pathlock.WithLease(pathlock.MinLease), ""},
		{"too short a lease", pathlock.WithLease(pathlock.MinLease - 1), "at least 10ms is needed"},
		{"a negative wait", pathlock.WithWait(-time.Second), "negative wait -1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			locker := pathlock.New(memstore.New(), tt.option)
			err := locker.Check()
			lock, refusal := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
			if refusal == nil {
				if err := lock.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if tt.says == "" {
				if err != nil || refusal != nil {
					t.Errorf("Check: %v; Acquire: %v; want neither", err, refusal)
				}
				return
			}
			if !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check: %v, want an ErrInvalidRequest that says %q", err, tt.says)
			}
			if refusal == nil || refusal.Error() != err.Error() {
				t.Errorf("Acquire: %v, want what Check says: %v", refusal, err)
			}
		})
	}
}

// understood are methods that nobody has to see in use: those of errors, of the standard library's
// interfaces and of observers, and questions.
var understood = regexp.MustCompile(`^(Acquiring|Waiting|Granted|Refused|Error|Unwrap|Is|String|Short|Format|LogValue|Validate|Initialize|(Unm|M)arshal\w+|Is[A-Z]\w*)$`)

// Every function of a public package, and every method that callers call, has an Example on its
// page of the documentation or is used in one.
func TestEveryEntryPointIsInAnExample(t *testing.T) {
	for folder, methods := range map[string]bool{
		".": true, "lockspec": true, "election": true, "contention": true, "admin": true, "middleware": true, "gormplugin": true, "idempotency": true, "fsck": true, "fsck/gormfsck": true,
		// Stores have the methods of an interface, which a Locker calls.
		"store/memstore": false, "store/offstore": false, "store/redisstore": false, "store/storetest": false,
	} {
		p, shown := documentation(t, folder)
		check := func(name string, examples []*doc.Example) {
			_, simple, ok := strings.Cut(name, ".")
			if !ok {
				simple = name
			}
			if len(examples) == 0 && !shown[simple] {
				t.Errorf("%s: %s is in no Example", folder, name)
			}
		}
		for _, f := range p.Funcs {
			check(f.Name, f.Examples)
		}
		for _, typ := range p.Types {
			for _, f := range typ.Funcs {
				check(f.Name, f.Examples)
			}
			for _, m := range typ.Methods {
				if methods && typ.Name != "NopObserver" && !understood.MatchString(m.Name) {
					check(typ.Name+"."+m.Name, m.Examples)
				}
			}
		}
	}
}

// documentation returns what go doc knows of the package in a folder, and the names that its
// examples select.
func documentation(t *testing.T, folder string) (*doc.Package, map[string]bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: files %v, error %v", folder, names, err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	shown := make(map[string]bool)
	for _, e := range doc.Examples(files...) {
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				shown[s.Sel.Name] = true
			}
			return true
		})
	}
	p, err := doc.NewFromFiles(fset, files, folder)
	if err != nil {
		t.Fatal(err)
	}
	return p, shown
}

func TestTheOriginOfAHoldIsSeenByAll(t *testing.T) {
	for _, tt := range []struct {
		name     string
		note     string
		in, want pathlock.Origin
	}{
		{"none", "edit", pathlock.Origin{}, pathlock.Origin{Instance: "here"}},
		{"whole", "edit", pathlock.Origin{Operation: "rename", Route: "PATCH /a/:id", RequestID: "r1", Trace: "00-ab-cd-01"},
			pathlock.Origin{Operation: "rename", Route: "PATCH /a/:id", Instance: "here", RequestID: "r1", Trace: "00-ab-cd-01"}},
		{"a note with the separators", "a\x1fb\x1fc\x1fd\x1fe\x1ff\x1e", pathlock.Origin{}, pathlock.Origin{Instance: "here"}},
		{"control characters", "n", pathlock.Origin{RequestID: "a\x1f\x1e\n\x00b", Route: "\x1e"}, pathlock.Origin{Instance: "here", RequestID: "ab"}},
		{"characters that turn directions", "n", pathlock.Origin{RequestID: "a\u202eb\u2066c\u200fé"}, pathlock.Origin{Instance: "here", RequestID: "abcé"}},
		{"a long field is cut between characters", "n", pathlock.Origin{RequestID: "x" + strings.Repeat("é", 100)},
			pathlock.Origin{Instance: "here", RequestID: "x" + strings.Repeat("é", 63)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			locker := pathlock.New(memstore.New(), pathlock.WithInstance("here"))
			ctx := pathlock.WithOrigin(t.Context(), tt.in)
			lock, err := locker.Acquire(ctx, ask(t, tt.note))
			if err != nil {
				t.Fatal(err)
			}
			if lock.Note() != tt.note {
				t.Errorf("the lock's note is %q, want %q", lock.Note(), tt.note)
			}
			snapshot, err := locker.Snapshot(t.Context(), lock.Tree())
			if err != nil || len(snapshot.Holders) != 1 {
				t.Fatalf("%+v, %v", snapshot, err)
			}
			if h := snapshot.Holders[0]; h.Note != tt.note || h.Origin != tt.want {
				t.Errorf("the snapshot has %q, %+v; want %q, %+v", h.Note, h.Origin, tt.note, tt.want)
			}
			_, err = locker.Acquire(t.Context(), ask(t, ""))
			conflict, ok := errors.AsType[*pathlock.ConflictError](err)
			if !ok || conflict.Blocker.Note != tt.note || conflict.Blocker.Origin != tt.want {
				t.Errorf("the conflict is %+v; want %q, %+v", conflict, tt.note, tt.want)
			}
			if strings.ContainsAny(err.Error(), "\x1f\x1e") || tt.in.RequestID != "" && strings.Contains(err.Error(), tt.want.RequestID) {
				t.Errorf("the error quotes the origin: %q", err)
			}
			token, err := lock.Detach(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			attached, err := locker.Attach(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = attached.Release(t.Context()) }()
			if attached.Note() != tt.note {
				t.Errorf("the attached lock's note is %q, want %q", attached.Note(), tt.note)
			}
			if snapshot, err = locker.Snapshot(t.Context(), lock.Tree()); err != nil || snapshot.Holders[0].Origin != tt.want {
				t.Errorf("detached, the origin is %+v, %v", snapshot.Holders, err)
			}
		})
	}
}

func TestAnUnnamedProcessKeepsNotesAsTheyAre(t *testing.T) {
	store := memstore.New()
	locker := pathlock.New(store, pathlock.WithInstance(""))
	for _, note := range []string{"", "edit", "a\x1eb", "a\x1f"} {
		lock, err := locker.Acquire(t.Context(), ask(t, note))
		if err != nil {
			t.Fatal(err)
		}
		if snapshot, err := store.Snapshot(t.Context(), lock.Tree()); err != nil || snapshot.Holders[0].Note != note {
			t.Errorf("the store has %+v, %v; want the note %q", snapshot, err, note)
		}
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// ask returns a request that conflicts with itself.
func ask(t *testing.T, note string) pathlock.Request {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-1")
	if err != nil {
		t.Fatal(err)
	}
	return pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}, Wait: pathlock.NoWait, Lease: time.Minute, Note: note}
}
