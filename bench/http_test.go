package bench

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

const (
	// instances of the sample app share a database, and locks if they have any.
	instances = 3
	// httpTurn is how long the clients of one contender work at a time.
	httpTurn = 2 * time.Second
)

// Changes of one plan over HTTP, on instances of the sample app: random creates, renames, moves and
// cases. Each contender has a database of its own. At the end, the sample app checks every plan
// that is asserted.
func BenchmarkHTTP(b *testing.B) {
	locks := testserver.Redis(b)
	database := durableDatabase(b)
	program, err := testchild.BuildSampleApp(b.TempDir())
	testerr.Must(b, err)
	var fleets []*fleet
	for _, rule := range []struct {
		name    string
		flags   []string
		asserts bool
	}{
		{"none", []string{"--locks", "off://", "--assert=false"}, false},
		{"assertion", []string{"--locks", "off://"}, true},
		{"whole-plan", []string{"--locks", locks, "--rule", "whole-plan"}, true},
		{"parent-exclusive", []string{"--locks", locks, "--rule", "parent-exclusive"}, true},
		{"name-slots", []string{"--locks", locks, "--rule", "name-slots"}, true},
	} {
		url := "mysql://" + database.Scratch(b)
		flags := append([]string{"--db", url, "--namespace", rand.Text()[:8]}, rule.flags...)
		fleets = append(fleets, startFleet(b, program, rule.name, rule.asserts, flags))
	}
	for _, clients := range []int{8, 32} {
		for _, f := range fleets {
			b.Run(fmt.Sprintf("clients=%d/rule=%s", clients, f.name), func(b *testing.B) {
				f.drive(b, clients, httpTurn/4) // the first requests do not count
				var took []time.Duration
				refused, statements := 0, database.statements(b)
				for b.Loop() {
					done := f.drive(b, clients, httpTurn)
					took, refused = append(took, done.took...), refused+done.refused
				}
				statements = database.statements(b) - statements - 1
				slices.Sort(took)
				changes := float64(len(took))
				b.ReportMetric(changes/b.Elapsed().Seconds(), "changes/s")
				b.ReportMetric(took[len(took)/2].Seconds()*1000, "p50-ms")
				b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
				b.ReportMetric(float64(statements)/changes, "statements/change")
				b.ReportMetric(1000*float64(refused)/(changes+float64(refused)), "refused/1000")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
	for _, f := range fleets {
		f.check(b)
	}
}

// fleet is a contender of the benchmark by HTTP: instances of the sample app, and a plan.
type fleet struct {
	name    string
	asserts bool
	urls    []string
	http    *http.Client
	plan    int64
	// folders hold the leaves.
	folders, leaves []int64
	// turn counts the turns, so that no name is used twice.
	turn uint64
}

// startFleet starts the instances and creates the plan: 8 folders, 48 folders in these, 384 leaves.
func startFleet(b *testing.B, program, name string, asserts bool, flags []string) *fleet {
	b.Helper()
	f := &fleet{name: name, asserts: asserts, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
	b.Cleanup(f.http.CloseIdleConnections)
	for range instances {
		app := testchild.NewSampleApp(b, program, flags...)
		app.Serve()
		f.urls = append(f.urls, "http://"+app.Addr)
	}
	var plan struct {
		ID     int64 `json:"id"`
		RootID int64 `json:"root_id"`
	}
	f.must(b, change{http.MethodPost, "/api/projects/bench/plans", `{"name":"plan"}`}, &plan)
	f.plan = plan.ID
	tops := f.fill(b, []int64{plan.RootID}, "area", 8)
	f.folders = f.fill(b, tops, "folder", 48)
	f.leaves = f.fill(b, f.folders, "leaf", 384)
	return f
}

func (f *fleet) fill(b *testing.B, parents []int64, name string, n int) (made []int64) {
	b.Helper()
	for i := range n {
		var suite struct {
			ID int64 `json:"id"`
		}
		f.must(b, f.create(parents[i%len(parents)], fmt.Sprint(name, "-", i)), &suite)
		made = append(made, suite.ID)
	}
	return made
}

// change is one request.
type change struct{ method, path, body string }

func (f *fleet) create(parent int64, name string) change {
	return change{http.MethodPost, fmt.Sprintf("/api/plans/%d/suites", f.plan), fmt.Sprintf(`{"parent_id":%d,"name":%q}`, parent, name)}
}

// next chooses a change. It is the same for every contender.
func (f *fleet) next(choice *mathrand.Rand, name string) change {
	oneOf := func(ids []int64) int64 { return ids[choice.IntN(len(ids))] }
	leaf, folder := oneOf(f.leaves), oneOf(f.folders)
	switch choice.IntN(4) {
	case 0:
		return f.create(folder, name)
	case 1:
		if choice.IntN(8) == 0 { // one rename of eight is that of a folder with its leaves
			leaf = folder
		}
		return change{http.MethodPatch, fmt.Sprintf("/api/suites/%d", leaf), fmt.Sprintf(`{"name":%q}`, name)}
	case 2:
		return change{http.MethodPost, fmt.Sprintf("/api/suites/%d/move", leaf), fmt.Sprintf(`{"parent_id":%d}`, folder)}
	default:
		return change{http.MethodPost, fmt.Sprintf("/api/suites/%d/cases", leaf), fmt.Sprintf(`{"name":%q,"body":"steps"}`, name)}
	}
}

// driven is the outcome of a turn: how long each change took, and how many were refused because of
// others.
type driven struct {
	took    []time.Duration
	refused int
}

// drive has clients change the plan for a time. Each sends one request after the other, to any
// instance.
func (f *fleet) drive(b *testing.B, clients int, d time.Duration) (all driven) {
	b.Helper()
	f.turn++
	each, errs := make([]driven, clients), make([]error, clients)
	var running sync.WaitGroup
	end := time.Now().Add(d)
	for n := range clients {
		choice := mathrand.New(mathrand.NewPCG(f.turn, uint64(n)))
		running.Go(func() {
			for i := 0; time.Now().Before(end) && errs[n] == nil; i++ {
				what := f.next(choice, fmt.Sprintf("c%d-%d-%d", f.turn, n, i))
				start := time.Now()
				status, answer, err := f.send(b.Context(), f.urls[choice.IntN(instances)], what)
				switch {
				case err != nil:
					errs[n] = err
				case status < http.StatusMultipleChoices:
					each[n].took = append(each[n].took, time.Since(start))
				case status < http.StatusInternalServerError || !f.asserts: // unprotected, clients see the database's own conflicts
					each[n].refused++
				default:
					errs[n] = fmt.Errorf("%s %s: %d %.300s", what.method, what.path, status, answer)
				}
			}
		})
	}
	running.Wait()
	testerr.MustBe(b, f.name, errors.Join(errs...), nil)
	for _, one := range each {
		all.took, all.refused = append(all.took, one.took...), all.refused+one.refused
	}
	return all
}

// check has the sample app check the plan.
func (f *fleet) check(b *testing.B) {
	b.Helper()
	if !f.asserts {
		return
	}
	var found struct {
		Problems []any `json:"problems"`
	}
	f.must(b, change{http.MethodGet, fmt.Sprintf("/api/plans/%d/fsck", f.plan), ""}, &found)
	if len(found.Problems) > 0 {
		b.Errorf("%s: the tree is broken: %v", f.name, found.Problems)
	}
}

// must sends a request that meets no others, and reads the answer into result.
func (f *fleet) must(b *testing.B, what change, result any) {
	b.Helper()
	status, answer, err := f.send(b.Context(), f.urls[0], what)
	if err == nil && status >= http.StatusMultipleChoices {
		err = fmt.Errorf("%d %.300s", status, answer)
	}
	if err == nil {
		err = json.Unmarshal(answer, result)
	}
	if err != nil {
		b.Fatalf("%s: %s %s: %v", f.name, what.method, what.path, err)
	}
}

func (f *fleet) send(ctx context.Context, url string, what change) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, what.method, url+what.path, strings.NewReader(what.body))
	if err != nil {
		return 0, nil, err
	}
	resp, err := f.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// durable is a MariaDB that waits for the disk at each commit.
type durable struct {
	testserver.MySQLServer
	pool *sql.DB
}

// durableDatabase has the server wait for the disk until the benchmark ends.
func durableDatabase(b *testing.B) durable {
	b.Helper()
	const flush = "innodb_flush_log_at_trx_commit"
	d := durable{MySQLServer: testserver.MySQLServer{DSN: testserver.MySQL(b)}}
	var err error
	d.pool, err = sql.Open("mysql", d.DSN)
	testerr.Must(b, err)
	b.Cleanup(func() { _ = d.pool.Close() })
	var was string
	testerr.Must(b, d.pool.QueryRowContext(b.Context(), "SELECT @@GLOBAL."+flush).Scan(&was))
	testerr.Must(b, testerr.Of(d.pool.ExecContext(b.Context(), "SET GLOBAL "+flush+" = 1")))
	b.Cleanup(func() { _, _ = d.pool.ExecContext(context.Background(), "SET GLOBAL "+flush+" = "+was) })
	return d
}

// statements returns how many the server has been sent.
func (d durable) statements(b *testing.B) (n int64) {
	b.Helper()
	var name string
	testerr.Must(b, d.pool.QueryRowContext(b.Context(), "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n))
	return n
}
