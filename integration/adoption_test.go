package integration

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	departments "github.com/pathlock-go/pathlock/integration/departments/after"
	handwritten "github.com/pathlock-go/pathlock/integration/departments/before"
	menus "github.com/pathlock-go/pathlock/integration/menus/after"
	handwrittenmenus "github.com/pathlock-go/pathlock/integration/menus/before"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// backEnd is a program before and after it has adopted pathlock.
type backEnd struct {
	name, route   string
	before, after func(context.Context, *gorm.DB, redis.UniversalClient) (*gin.Engine, error)
	// lines is how many lines the adopted program may have that the other has not.
	lines int
	table fsck.Table
	// broken counts the live rows whose path is not their parent's with their own id. Where there
	// are none there are no cycles, either, since a path is longer than the parent's.
	broken string
}

var backEnds = []backEnd{
	{
		name: "departments", route: "/dept", before: handwritten.Routes, after: departments.Routes, lines: 20,
		table: fsck.Table{Table: "sys_dept", Key: "dept_id", SingleTree: "departments", Parent: "parent_id", IDPath: "dept_path", IDPathForm: "/0/*/*/", Deleted: "deleted_at"},
		broken: `SELECT COUNT(*) FROM sys_dept d LEFT JOIN sys_dept p ON p.dept_id = d.parent_id AND p.deleted_at = 0 WHERE d.deleted_at = 0
			AND NOT (d.dept_path = CONCAT(COALESCE(p.dept_path, '/0/'), d.dept_id, '/') AND (d.parent_id = 0 OR p.dept_id IS NOT NULL))`,
	},
	{
		name: "menus", route: "/menu", before: handwrittenmenus.Routes, after: menus.Routes, lines: 25,
		table: fsck.Table{Table: "sys_menu", Key: "menu_id", SingleTree: "menus", Parent: "parent_id", IDPath: "paths", IDPathForm: "/0/*/*", Deleted: "deleted_at"},
		broken: `SELECT COUNT(*) FROM sys_menu m LEFT JOIN sys_menu p ON p.menu_id = m.parent_id AND p.deleted_at = 0 WHERE m.deleted_at = 0
			AND NOT (m.paths = CONCAT(COALESCE(p.paths, '/0'), '/', m.menu_id) AND (m.parent_id = 0 OR p.menu_id IS NOT NULL))`,
	},
}

// A back end that keeps paths by hand breaks its tree under a storm of requests to three instances.
// fsck finds that in the table as it is, and repairs it. With a few lines and no new column, the
// tree stays right.
func TestBackEndsAdoptPathlock(t *testing.T) {
	for _, b := range backEnds {
		t.Run(b.name, func(t *testing.T) {
			file := "/" + b.name + ".go"
			diff, _ := exec.CommandContext(t.Context(), "diff", "-U0", b.name+"/before"+file, b.name+"/after"+file).Output()
			added, removed := len(addedLine.FindAll(diff, -1)), len(removedLine.FindAll(diff, -1))
			if added == 0 || added > b.lines {
				t.Errorf("%d lines are new or changed, want 1 to %d", added, b.lines)
			}
			t.Logf("the diff adds %d lines and takes %d away", added, removed)
			t.Run("MariaDB", func(t *testing.T) { b.adopt(t, mariaDatabase(t)) })
			t.Run("PostgreSQL", func(t *testing.T) { b.adopt(t, postgresDatabase(t, wordOrder, nil)) })
		})
	}
}

// Lines of code that a diff adds, and that it takes away.
var (
	addedLine   = regexp.MustCompile(`(?m)^\+[ \t]*[^+\s]`)
	removedLine = regexp.MustCompile(`(?m)^-[ \t]*[^-\s]`)
)

// adopt takes a database from the program before to the one after.
func (b backEnd) adopt(t *testing.T, d gormplugintest.Database) {
	pool := poolOf(t, d.Connector)
	old := b.instances(t, d, b.before)
	b.plant(t, old[0])
	checker, err := fsck.New(t.Context(), pool, fsck.Dialect(d.Dialector(pool).Name()), b.table)
	must(t, err)
	b.wantSound(t, checker, pool)
	const storms = 10
	found, broken := int64(0), 0
	for n := 0; n < storms && found == 0; n++ {
		t.Logf("before: %v", b.storm(t, old))
		found, broken = b.problems(t, checker, pool)
	}
	if found == 0 || broken == 0 {
		t.Fatalf("before: fsck finds %d problems and SQL %d after up to %d storms, want some", found, broken, storms)
	}
	_, err = checker.Repair(t.Context(), fsck.RepairOptions{Apply: true, Locker: pathlock.New(offstore.New())})
	must(t, err)
	b.wantSound(t, checker, pool)

	answers := b.storm(t, b.instances(t, d, b.after))
	t.Logf("after: %v", answers)
	if answers[http.StatusOK] < 60 || answers[http.StatusInternalServerError] > 0 {
		t.Error("after: want most requests to succeed, and none to fail for no known reason")
	}
	b.wantSound(t, checker, pool)
}

// instances starts three instances with pools and clients of their own. Where the schema is unsafe
// for the first, the statements that the error has mend it.
func (b backEnd) instances(t *testing.T, d gormplugintest.Database, program func(context.Context, *gorm.DB, redis.UniversalClient) (*gin.Engine, error)) (engines []*gin.Engine) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	must(t, err)
	options.ContextTimeoutEnabled = true
	for range 3 {
		client := redis.NewClient(options)
		t.Cleanup(func() { _ = client.Close() })
		start := func() (*gin.Engine, error) {
			db, err := gorm.Open(d.Dialector(poolOf(t, d.Connector)), &gorm.Config{Logger: logger.Discard})
			must(t, err)
			return program(t.Context(), db, client)
		}
		engine, err := start()
		if unsafe := (*gormplugin.SchemaError)(nil); errors.As(err, &unsafe) {
			for _, finding := range unsafe.Findings {
				t.Log(finding)
				for _, statement := range finding.Statements {
					_, err := poolOf(t, d.Connector).ExecContext(t.Context(), statement)
					must(t, err)
				}
			}
			engine, err = start()
		}
		must(t, err)
		engines = append(engines, engine)
	}
	return engines
}

// row is what the lists answer with.
type row struct{ DeptID, MenuID, ParentID int }

func (r row) id() int { return max(r.DeptID, r.MenuID) }

// send sends a request to an instance, and returns the status. It decodes the data of a success.
func send(t *testing.T, engine *gin.Engine, method, target string, body gin.H, data any) int {
	t.Helper()
	text, err := json.Marshal(body)
	must(t, err)
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, bytes.NewReader(text)))
	if w.Code == http.StatusOK {
		must(t, json.Unmarshal(w.Body.Bytes(), &struct{ Data any }{data}))
	}
	return w.Code
}

// plant creates a tree of twelve rows. Ids of one digit begin those of two.
func (b backEnd) plant(t *testing.T, engine *gin.Engine) {
	t.Helper()
	for n := range 12 {
		parent := max(0, n-2)
		if status := send(t, engine, "POST", b.route, gin.H{"parentId": parent, "deptName": "same", "title": "a/b"}, nil); status != http.StatusOK {
			t.Fatalf("row %d: %d", n, status)
		}
	}
}

// storm sends 120 requests by six clients, which choose from what the list shows, and counts the
// answers by status.
func (b backEnd) storm(t *testing.T, engines []*gin.Engine) map[int]int {
	var mu sync.Mutex
	var clients sync.WaitGroup
	answers := map[int]int{}
	for client := range 6 {
		draw := rand.New(rand.NewPCG(21, uint64(client)))
		clients.Go(func() {
			for range 20 {
				engine := engines[client%len(engines)]
				var all []row
				if status := send(t, engine, "GET", b.route, nil, &all); status != http.StatusOK {
					t.Errorf("list: %d", status)
					return
				}
				all = append(all, row{}) // the top, behind the newest rows
				one, other := all[draw.IntN(len(all))], all[draw.IntN(len(all))]
				target := fmt.Sprintf("%s/%d", b.route, one.id())
				var status int
				switch draw.IntN(16) {
				case 0, 1, 2, 3, 4:
					status = send(t, engine, "POST", b.route, gin.H{"parentId": other.id(), "deptName": "new"}, nil)
				case 5, 6:
					status = send(t, engine, "PUT", target, gin.H{"parentId": one.ParentID, "deptName": "renamed"}, nil)
				case 7:
					status = send(t, engine, "DELETE", b.route, gin.H{"ids": []int{all[max(0, len(all)-3)].id(), all[max(0, len(all)-2)].id()}}, nil)
				default:
					status = send(t, engine, "PUT", target, gin.H{"parentId": other.id(), "deptName": "moved"}, nil)
				}
				mu.Lock()
				answers[status]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return answers
}

// problems counts what fsck finds in the table, and what SQL does.
func (b backEnd) problems(t *testing.T, checker *fsck.Checker, pool *sql.DB) (found int64, broken int) {
	t.Helper()
	summary, err := checker.Check(t.Context(), fsck.Options{}, func(fsck.Problem) error { return nil })
	must(t, err)
	must(t, pool.QueryRowContext(t.Context(), b.broken).Scan(&broken))
	t.Logf("%d rows, of which %d are wrong by SQL; problems %v", summary.Rows, broken, summary.Problems)
	return summary.Total(), broken
}

func (b backEnd) wantSound(t *testing.T, checker *fsck.Checker, pool *sql.DB) {
	t.Helper()
	if found, broken := b.problems(t, checker, pool); found > 0 || broken > 0 {
		t.Errorf("fsck finds %d problems, and SQL %d rows, want none", found, broken)
	}
}

// mariaDatabase makes a database whose texts compare as MariaDB's do where nobody says otherwise.
func mariaDatabase(t *testing.T) gormplugintest.Database {
	t.Helper()
	servers := testserver.MySQLServers(t)
	if len(servers) == 0 || servers[0].Product != testserver.MariaDB {
		testserver.Missing(t, "this test needs a MariaDB")
	}
	config, err := mysqldriver.ParseDSN(servers[0].Scratch(t))
	must(t, err)
	connector, err := mysqldriver.NewConnector(config)
	must(t, err)
	_, err = poolOf(t, connector).ExecContext(t.Context(), "ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	must(t, err)
	return gormplugintest.Database{Connector: connector, Dialector: func(pool *sql.DB) gorm.Dialector { return mysql.New(mysql.Config{Conn: pool}) }}
}
