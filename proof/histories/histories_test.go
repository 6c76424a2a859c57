package histories

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/proof/budget"
)

// program is the sample app.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "histories")
	if err == nil {
		program, err = testchild.BuildSampleApp(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func TestHistories_SQLite(t *testing.T) { runAll(t, onFile(t)) }

func TestHistories_MariaDB(t *testing.T) { runAll(t, onProduct(t, testserver.MariaDB)) }

func TestHistories_MySQL(t *testing.T) { runAll(t, onProduct(t, testserver.Oracle)) }

func onProduct(t *testing.T, product string) backend {
	t.Helper()
	for _, server := range testserver.MySQLServers(t) {
		if server.Product == product {
			return onServer(t, "mysql://"+server.DSN+"information_schema")
		}
	}
	testserver.Missing(t, "there is no "+product)
	return backend{}
}

func TestHistories_PostgreSQL(t *testing.T) { runAll(t, onServer(t, testserver.Postgres(t))) }

// TestClient_unknown sends a request to an instance that ends before it answers. No other try
// reaches it. So the request may have had its effect, and belongs to the history.
func TestClient_unknown(t *testing.T) {
	ends := httptest.NewUnstartedServer(nil)
	ends.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = ends.Listener.Close()
		panic(http.ErrAbortHandler)
	})
	ends.Start()
	t.Cleanup(ends.Close)
	at := &instance{SampleApp: &testchild.SampleApp{Addr: ends.Listener.Addr().String()}}
	c := &client{plan: &plan{began: time.Now()}, http: ends.Client(), instances: []*instance{at}, rand: rand.New(rand.NewPCG(1, 1))}
	c.request(t.Context(), input{do: "delete", node: id{number: 7}}, "key", 1, tries, patience)
	if len(c.history) != 1 || !c.history[0].Output.(output).unknown {
		t.Errorf("the history is %+v", c.history)
	}
}

// runAll runs round after round for as long as there is time.
func runAll(t *testing.T, b backend) {
	b.program = program
	began, seed := time.Now(), budget.Seed()
	var sum tally
	for next := seed; next == seed || time.Since(began) < budget.Time() && !t.Failed(); next++ {
		t.Run(fmt.Sprint("seed=", next), func(t *testing.T) { sum.add(b.round(t, next)) })
		if t.Failed() {
			t.Logf("to repeat it: %s=%d go test -run %s ./proof/histories", budget.SeedVariable, next, t.Name())
		}
	}
	if sum.histories == 0 {
		t.Error("no history could be judged, which shows nothing")
	}
	budget.Report(t, "histories", sum.histories, "requests", sum.requests, "faults", sum.faults, "unknown", sum.unknown,
		"refused", sum.refused, "seed", seed, "seconds", int(time.Since(began).Seconds()))
}
