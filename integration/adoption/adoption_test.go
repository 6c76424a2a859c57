package adoption

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
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	departments "github.com/pathlock-go/pathlock/integration/departments/after"
	handwritten "github.com/pathlock-go/pathlock/integration/departments/before"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	menus "github.com/pathlock-go/pathlock/integration/menus/after"
	handwrittenmenus "github.com/pathlock-go/pathlock/integration/menus/before"
	tags "github.com/pathlock-go/pathlock/integration/tags/after"
	handwrittentags "github.com/pathlock-go/pathlock/integration/tags/before"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// backEnd is a program before and after it has adopted pathlock.
type backEnd struct {
	name, route   string
	moves         string // what the route of a move has more than that of a rename
	before, after func(context.Context, *gorm.DB, redis.UniversalClient) (*gin.Engine, error)
	// lines is how many lines the adopted program may have that the other has not.
	lines int
	table fsck.Table
	// flags describe the table to pathlock fsck.
	flags string
	// fill adds to the table what fsck needs, and recode writes what follows from a repair.
	fill, recode func(*gorm.DB) error
	// broken counts the live rows whose path is not their parent's with their own id or code, or is
	// that of another row. Where there are none there are no cycles, either, since a path is longer
	// than the parent's.
	broken string
}

var backEnds = []backEnd{
	{
		name: "departments", route: "/dept", before: handwritten.Routes, after: departments.Routes, lines: 20, fill: nothing, recode: nothing,
		table: fsck.Table{Table: "sys_dept", Key: "dept_id", SingleTree: "departments", Parent: "parent_id", IDPath: "dept_path", IDPathForm: "/0/*/*/", Deleted: "deleted_at"},
		flags: "--table sys_dept --key dept_id --single-tree departments --name= --path= --id-path dept_path --id-path-form /0/*/*/",
		broken: `SELECT COUNT(*) FROM sys_dept d LEFT JOIN sys_dept p ON p.dept_id = d.parent_id AND p.deleted_at = 0 WHERE d.deleted_at = 0
			AND NOT (d.dept_path = CONCAT(COALESCE(p.dept_path, '/0/'), d.dept_id, '/') AND (d.parent_id = 0 OR p.dept_id IS NOT NULL))`,
	},
	{
		name: "menus", route: "/menu", before: handwrittenmenus.Routes, after: menus.Routes, lines: 25, fill: nothing, recode: nothing,
		table: fsck.Table{Table: "sys_menu", Key: "menu_id", SingleTree: "menus", Parent: "parent_id", IDPath: "paths", IDPathForm: "/0/*/*", Deleted: "deleted_at"},
		flags: "--table sys_menu --key menu_id --single-tree menus --name= --path= --id-path paths --id-path-form /0/*/*",
		broken: `SELECT COUNT(*) FROM sys_menu m LEFT JOIN sys_menu p ON p.menu_id = m.parent_id AND p.deleted_at = 0 WHERE m.deleted_at = 0
			AND NOT (m.paths = CONCAT(COALESCE(p.paths, '/0'), '/', m.menu_id) AND (m.parent_id = 0 OR p.menu_id IS NOT NULL))`,
	},
}

func nothing(*gorm.DB) error { return nil }

// docs/adopting.md swaps one store for another in one line: all of them are closed alike.
var _ = func(client redis.UniversalClient) []closed {
	return []closed{redisstore.New(client), offstore.New(), memstore.New()}
}

type closed interface {
	pathlock.Store
	Close(ctx context.Context) error
}

// tagTree is a back end that has its locks in the store of a URL.
func tagTree(locks string) backEnd {
	return backEnd{
		name: "tags", route: "/tag", moves: "/parent", lines: 60, fill: tags.Fill, recode: tags.Recode,
		before: func(ctx context.Context, db *gorm.DB, _ redis.UniversalClient) (*gin.Engine, error) {
			return handwrittentags.Routes(ctx, db)
		},
		after: func(ctx context.Context, db *gorm.DB, _ redis.UniversalClient) (*gin.Engine, error) {
			return tags.Routes(ctx, db, locks)
		},
		table: fsck.Table{Table: "t_tag_tree", Key: "id", SingleTree: "tags", Parent: "parent_id", Name: "segment", Path: "code_path", PathForm: "*/*/", Deleted: "is_deleted"},
		flags: "--table t_tag_tree --single-tree tags --name segment --path code_path --path-form */*/ --deleted is_deleted",
		broken: `WITH tag AS (SELECT *, CASE type WHEN 0 THEN code ELSE CONCAT(type, '|', code) END AS own FROM t_tag_tree WHERE is_deleted = 0)
			SELECT COUNT(*) FROM tag t WHERE EXISTS (SELECT 1 FROM tag o WHERE o.code_path = t.code_path AND o.id <> t.id) OR
			NOT (t.code_path = CONCAT(t.own, '/') OR EXISTS (SELECT 1 FROM tag p WHERE t.code_path = CONCAT(p.code_path, t.own, '/')))`,
	}
}

// A back end that keeps paths by hand breaks its tree under a storm of requests to three instances.
// fsck finds that in the table as it is, and repairs it. With a few lines and no new column, the
// tree stays right.
func TestAdoption_ofBackEnds(t *testing.T) {
	for _, b := range backEnds {
		t.Run(b.name, func(t *testing.T) {
			b.countLines(t)
			t.Run("MariaDB", func(t *testing.T) { b.adopt(t, mariaDatabase(t)) })
			t.Run("PostgreSQL", func(t *testing.T) { b.adopt(t, databases.Postgres(t, databases.WordOrder, nil)) })
		})
	}
}

// A table that knows parents by the paths alone needs two new columns. Then its tree stays right as
// well, with locks in every store that has servers: the other back ends have theirs in Redis. Locks
// and table are in different databases.
func TestAdoption_onEveryStore(t *testing.T) {
	tagTree("").countLines(t)
	keeper, etcd, redis := testzk.Start(t).Addr, testetcd.Start(t).Addr, testserver.Redis(t)
	onMariaDB := map[string]string{
		"PostgreSQL": testserver.Postgres(t),
		"ZooKeeper":  "zk://" + keeper + "/locks",
	}
	onPostgres := map[string]string{
		"MariaDB": "mysql://" + testserver.MySQLServer{DSN: testserver.MySQL(t)}.Scratch(t),
		"etcd":    "etcd://" + etcd + "/locks",
		"quorum":  "quorum:" + redis + "|zk://" + keeper + "/member|etcd://" + etcd + "/member",
	}
	for name, locks := range onMariaDB {
		t.Run(name+"/MariaDB", func(t *testing.T) { adoptWithLocksIn(t, locks, mariaDatabase(t)) })
	}
	for name, locks := range onPostgres {
		t.Run(name+"/PostgreSQL", func(t *testing.T) { adoptWithLocksIn(t, locks, databases.Postgres(t, databases.WordOrder, nil)) })
	}
}

// adoptWithLocksIn has the tags adopt locks in the store of a URL. When everything is done, their
// whole tree can be locked there, and the next change waits for that.
func adoptWithLocksIn(t *testing.T, locks string, d gormplugintest.Database) {
	engines := tagTree(locks).adopt(t, d)
	store, err := anystore.Open(t.Context(), locks, redisstore.Kind, sqlopen.Kind, zkstore.Kind, etcdstore.Kind)
	testerr.Must(t, err)
	defer func() { testerr.Must(t, store.Close(t.Context())) }()
	locker := pathlock.New(store)
	tree, err := pathlock.NewTree("t_tag_tree", "tags")
	testerr.Must(t, err)
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	testerr.Must(t, err)
	var change sync.WaitGroup
	change.Go(func() { send(t, engines[0], "POST", "/tag", gin.H{"code": "late"}, nil) })
	testserver.Await(t, "a change waits", func() bool {
		now, err := locker.Snapshot(t.Context(), tree)
		return err == nil && len(now.Waiters) > 0
	})
	testerr.Must(t, lock.Release(t.Context()))
	change.Wait()
}

// countLines looks at how much has changed in the program.
func (b backEnd) countLines(t *testing.T) {
	file := "/" + b.name + ".go"
	diff, _ := exec.CommandContext(t.Context(), "diff", "-U0", "../"+b.name+"/before"+file, "../"+b.name+"/after"+file).Output()
	added, removed := len(addedLine.FindAll(diff, -1)), len(removedLine.FindAll(diff, -1))
	if added == 0 || added > b.lines {
		t.Errorf("%d lines are new or changed, want 1 to %d", added, b.lines)
	}
	t.Logf("the diff adds %d lines and takes %d away", added, removed)
}

// Lines of code that a diff adds, and that it takes away.
var (
	addedLine   = regexp.MustCompile(`(?m)^\+[ \t]*[^+\s]`)
	removedLine = regexp.MustCompile(`(?m)^-[ \t]*[^-\s]`)
)

// adopt takes a database from the program before to the one after, whose instances it returns.
func (b backEnd) adopt(t *testing.T, d gormplugintest.Database) (engines []*gin.Engine) {
	pool := databases.Pool(t, d.Connector)
	db := databases.Use(t, d.Dialector(pool))
	old := b.instances(t, d, b.before)
	b.plant(t, old[0])
	testerr.Must(t, b.fill(db))
	checker, err := fsck.New(t.Context(), pool, fsck.Dialect(d.Dialector(pool).Name()), b.table)
	testerr.Must(t, err)
	b.wantSound(t, checker, pool)
	const storms = 10
	found, broken := int64(0), 0
	for n := 0; n < storms && found == 0; n++ {
		t.Logf("before: %v", b.storm(t, old))
		testerr.Must(t, b.fill(db))
		found, broken = b.problems(t, checker, pool)
	}
	if found == 0 || broken == 0 {
		t.Fatalf("before: fsck finds %d problems and SQL %d after up to %d storms, want some", found, broken, storms)
	}
	_, err = checker.Repair(t.Context(), fsck.RepairOptions{Apply: true, Locker: pathlock.New(offstore.New())})
	testerr.Must(t, errors.Join(err, b.recode(db)))
	b.wantSound(t, checker, pool)

	engines = b.instances(t, d, b.after)
	answers := b.storm(t, engines)
	t.Logf("after: %v", answers)
	if answers[http.StatusOK] < 60 || answers[http.StatusInternalServerError]+answers[http.StatusServiceUnavailable] > 0 {
		t.Error("after: want most requests to succeed, and none to fail for no known reason")
	}
	b.wantSound(t, checker, pool)
	return engines
}

// awaitReleases waits for the releases that answers have left to the background, which need the
// client.
func awaitReleases(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	store := redisstore.New(client)
	defer func() { _ = store.Close(context.Background()) }()
	testserver.Await(t, "everything is released", func() bool {
		trees, err := pathlock.New(store).Trees(context.Background())
		testerr.None(t, err)
		return err != nil || !slices.ContainsFunc(trees, func(tree pathlock.Tree) bool { return strings.HasPrefix(tree.Namespace(), "sys_") })
	})
}

// instances starts three instances with pools and clients of their own. Where the schema is unsafe
// for the first, the statements that the error has mend it.
func (b backEnd) instances(t *testing.T, d gormplugintest.Database, program func(context.Context, *gorm.DB, redis.UniversalClient) (*gin.Engine, error)) (engines []*gin.Engine) {
	t.Helper()
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	options.ContextTimeoutEnabled = true
	for range 3 {
		client := redis.NewClient(options)
		t.Cleanup(func() {
			awaitReleases(t, client)
			_ = client.Close()
		})
		start := func() (*gin.Engine, error) {
			return program(t.Context(), databases.Use(t, d.Dialector(sql.OpenDB(d.Connector))), client)
		}
		engine, err := start()
		if unsafe := (*gormplugin.SchemaError)(nil); errors.As(err, &unsafe) {
			for _, finding := range unsafe.Findings {
				t.Log(finding)
				for _, statement := range finding.Statements {
					_, err := databases.Pool(t, d.Connector).ExecContext(t.Context(), statement)
					testerr.Must(t, err)
				}
			}
			engine, err = start()
		}
		testerr.Must(t, err)
		engines = append(engines, engine)
	}
	return engines
}

// row is what the lists answer with.
type row struct{ ID, DeptID, MenuID, ParentID int }

func (r row) id() int { return max(r.ID, r.DeptID, r.MenuID) }

// send sends a request to an instance, and returns the status. It decodes the data of a success.
func send(t *testing.T, engine *gin.Engine, method, target string, body gin.H, data any) int {
	t.Helper()
	text, err := json.Marshal(body)
	testerr.Must(t, err)
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, bytes.NewReader(text)))
	if w.Code == http.StatusOK {
		testerr.Must(t, json.Unmarshal(w.Body.Bytes(), &struct{ Data any }{data}))
	}
	return w.Code
}

// plant creates a tree of twelve rows. Ids of one digit begin those of two.
func (b backEnd) plant(t *testing.T, engine *gin.Engine) {
	t.Helper()
	for n := range 12 {
		parent := max(0, n-2)
		if status := send(t, engine, "POST", b.route, gin.H{"parentId": parent, "deptName": "same", "title": "a/b", "code": fmt.Sprint("t", n), "type": n % 3}, nil); status != http.StatusOK {
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
			for n := range 20 {
				engine := engines[client%len(engines)]
				var all []row
				if status := send(t, engine, "GET", b.route, nil, &all); status != http.StatusOK {
					t.Errorf("list: %d", status)
					return
				}
				all = append(all, row{}) // the top, behind the newest rows
				one, other := all[draw.IntN(len(all))], all[draw.IntN(len(all))]
				target, code := fmt.Sprintf("%s/%d", b.route, one.id()), fmt.Sprint("c", n)
				var status int
				switch draw.IntN(16) {
				case 0, 1, 2, 3, 4:
					status = send(t, engine, "POST", b.route, gin.H{"parentId": other.id(), "deptName": "new", "code": code, "type": n % 2}, nil)
				case 5, 6:
					status = send(t, engine, "PUT", target, gin.H{"parentId": one.ParentID, "deptName": "renamed", "code": code}, nil)
				case 7:
					status = send(t, engine, "DELETE", b.route, gin.H{"ids": []int{all[max(0, len(all)-3)].id(), all[max(0, len(all)-2)].id()}}, nil)
				default:
					status = send(t, engine, "PUT", target+b.moves, gin.H{"parentId": other.id(), "deptName": "moved"}, nil)
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
	testerr.Must(t, err)
	testerr.Must(t, pool.QueryRowContext(t.Context(), b.broken).Scan(&broken))
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
	return mysqlDatabase(t, servers[0].Scratch(t))
}

// mysqlDatabase has a database compare texts as those of MariaDB do by default.
func mysqlDatabase(t *testing.T, dsn string) gormplugintest.Database {
	t.Helper()
	config, err := mysqldriver.ParseDSN(dsn)
	testerr.Must(t, err)
	connector, err := mysqldriver.NewConnector(config)
	testerr.Must(t, err)
	_, err = databases.Pool(t, connector).ExecContext(t.Context(), "ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	testerr.Must(t, err)
	return gormplugintest.Database{Connector: connector, Dialector: func(pool *sql.DB) gorm.Dialector { return mysql.New(mysql.Config{Conn: pool}) }}
}
