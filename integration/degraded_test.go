package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// degradable is an instance of a service that goes on while its Redis is away.
type degradable struct {
	locker *pathlock.Locker
	engine *gin.Engine

	mu sync.Mutex
	// phase is that of the test. Requests count that begin and end in it.
	phase int
	tally
}

// tally counts answers: with and without locks, and those of 500 and more.
type tally struct {
	with, without int
	failed        []string
}

// next begins a phase, and returns what became of the requests of the one before.
func (i *degradable) next() tally {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.tally
	i.phase, i.tally = i.phase+1, tally{}
	return before
}

// soFar returns what became of the requests of the phase.
func (i *degradable) soFar() tally {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.tally
}

// openDegradable opens an instance.
func openDegradable(t *testing.T, d gormplugintest.Database, server *testredis.Server) (*degradable, *gorm.DB) {
	t.Helper()
	redis, err := redisstore.Open("redis://" + server.Addr)
	must(t, err)
	quiet := slog.New(slog.DiscardHandler)
	i := &degradable{engine: gin.New()}
	i.locker = pathlock.New(pathlock.Degrade(redis, pathlock.Degradation{Retry: 50 * time.Millisecond, Log: quiet}), pathlock.WithLogger(quiet))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		must(t, i.locker.Shutdown(ctx))
		must(t, redis.Close(ctx))
	})
	type suite = gormplugintest.Suite
	plugin := gormplugin.New(i.locker, gormplugin.Model(&suite{}))
	db := guardedBy(t, d, plugin, &suite{})
	locks := middleware.New(i.locker, plugin.Resolver(&suite{}), middleware.Config{Log: quiet})
	route := func(method, path string, spec lockspec.Spec, do func(db *gorm.DB, c *gin.Context, body suite) error) {
		i.engine.Handle(method, path, locks.Lock(spec.Asserted()), func(c *gin.Context) {
			var body suite
			_ = c.ShouldBindJSON(&body)
			if err := do(db.WithContext(c.Request.Context()), c, body); err != nil {
				locks.Fail(c, err)
			}
		})
	}
	id, name, parent := lockspec.Param("id"), lockspec.JSON("Name"), lockspec.JSON("ParentID")
	route(http.MethodPost, "/suites", lockspec.Insert(parent, name), func(db *gorm.DB, _ *gin.Context, body suite) error {
		return db.Create(&suite{ParentID: body.ParentID, Name: body.Name}).Error
	})
	route(http.MethodPatch, "/suites/:id", lockspec.Rename(id, name), func(db *gorm.DB, c *gin.Context, body suite) error {
		return gormplugin.Rename(db, &suite{}, c.Param("id"), body.Name)
	})
	route(http.MethodPut, "/suites/:id", lockspec.Move(id, parent), func(db *gorm.DB, c *gin.Context, body suite) error {
		return gormplugin.Move(db, &suite{}, c.Param("id"), gormplugin.Below(*body.ParentID))
	})
	return i, db
}

// send sends a request, and counts the answer.
func (i *degradable) send(ctx context.Context, method, path string, body map[string]any) {
	text, _ := json.Marshal(body)
	i.mu.Lock()
	phase := i.phase
	i.mu.Unlock()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(string(text)))
	r.Header.Set("Content-Type", "application/json")
	i.engine.ServeHTTP(w, r)
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case phase != i.phase:
	case w.Code >= http.StatusInternalServerError:
		i.failed = append(i.failed, fmt.Sprint(w.Code, " ", w.Body))
	case w.Code >= http.StatusBadRequest:
	case w.Header().Get(middleware.DegradedHeader) == "true":
		i.without++
	default:
		i.with++
	}
}

// storm has a client of the instance change suites at random until ctx ends.
func (i *degradable) storm(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		some, other := 2+random.Int64N(12), 1+random.Int64N(13)
		name := fmt.Sprintf("n%d", random.IntN(30))
		sent := context.WithoutCancel(ctx)
		switch random.IntN(5) {
		case 0:
			i.send(sent, http.MethodPost, "/suites", map[string]any{"ParentID": other, "Name": name})
		case 1, 2:
			i.send(sent, http.MethodPut, fmt.Sprintf("/suites/%d", some), map[string]any{"ParentID": other})
		default:
			i.send(sent, http.MethodPatch, fmt.Sprintf("/suites/%d", some), map[string]any{"Name": name})
		}
	}
}

// Two instances go on while their Redis is killed under a storm, and take locks again once it is
// back. The tree is right at every moment, whoever has locks.
func TestRequestsGoOnWhileRedisIsAway(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	d, server := postgresDatabase(t, byteOrder, nil), testredis.Start(t, testredis.Redis)
	one, db := openDegradable(t, d, server)
	other, _ := openDegradable(t, d, server)
	instances := []*degradable{one, other}
	must(t, db.Create(&gormplugintest.Suite{ID: 1, PlanID: 1}).Error)
	for id := int64(2); id < 14; id++ {
		must(t, db.Create(&gormplugintest.Suite{ID: id, ParentID: new(int64(1)), Name: fmt.Sprintf("s%d", id)}).Error)
	}
	must(t, db.Exec("SELECT setval('suites_id_seq', 100)").Error)

	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for n := range 6 {
		i := instances[n%2]
		clients.Go(func() { i.storm(ctx, rand.New(rand.NewPCG(rand.Uint64(), 0))) })
	}
	defer clients.Wait()
	defer stop()
	sound := func() {
		t.Helper()
		var wrong []string
		must(t, db.Raw(`SELECT c.id || ': ' || c.path FROM suites c LEFT JOIN suites p ON p.id = c.parent_id
			WHERE c.id <> 1 AND (p.id IS NULL OR c.path <> p.path || '/' || c.name)`).Scan(&wrong).Error)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
	}
	// until waits for both instances, and begins a phase.
	until := func(what string, holds func(tally) bool) {
		t.Helper()
		testserver.Await(t, what, func() bool {
			sound()
			return holds(one.soFar()) && holds(other.soFar())
		})
		for _, i := range instances {
			if got := i.next(); len(got.failed) > 0 && !strings.Contains(what, "first") {
				t.Errorf("%s: %v", what, got.failed)
			}
		}
	}
	const n = 30
	locked := func(got tally) bool { return got.with >= n && got.without == 0 }
	unlocked := func(got tally) bool { return got.without >= n && got.with == 0 }

	until("requests with locks", locked)
	server.Kill()
	until("a first request without the lock store", func(got tally) bool { return got.without > 0 })
	until("requests without the lock store, all of which say so", unlocked)
	for _, i := range instances {
		if i.locker.Degraded().IsZero() {
			t.Error("the locker does not say so")
		}
		if _, err := i.locker.Mutex("m").TryLock(t.Context()); err == nil {
			t.Error("a mutex was granted without the lock store")
		}
	}
	server.Start()
	until("a first request with locks again", func(got tally) bool { return got.with > 0 })
	until("requests with locks again", locked)
	stop()
	clients.Wait()
	sound()
}
