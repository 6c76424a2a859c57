package adoption

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// tagged matches a tag with its field, but for the type, or with the column of the field.
var tagged = regexp.MustCompile("(?m)^\\s*(?:add to the field of column )?(\\w+)[ :].*(pathlock:\"[^\"]*\")`?$")

// pathlock adopt, of a table that the old program has filled, prints the tags and options of the
// adopted program, and the flags of its table. With its statements, the adopted program starts.
func TestAdopt_printsWhatTheProgramsHave(t *testing.T) {
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	for _, b := range append(slices.Clone(backEnds), tagTree("memory://")) {
		testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
			dsn := server.Scratch(t)
			d := mysqlDatabase(t, dsn)
			pool := databases.Pool(t, d.Connector)
			b.plant(t, b.instances(t, d, b.before)[0])
			var out bytes.Buffer
			if code := command.Main(t.Context(), []string{"adopt", "--db", "mysql://" + dsn, "--json"}, &out, t.Output()); code != 0 {
				t.Fatalf("%s: exit code %d", b.name, code)
			}
			var report struct {
				Trees []struct {
					Table, Fsck   string
					Rows, Agree   int
					Tags, Options []string
					Statements    []struct{ SQL string }
				}
			}
			testerr.Must(t, json.Unmarshal(out.Bytes(), &report))
			if len(report.Trees) != 1 || report.Trees[0].Agree != 12 || report.Trees[0].Rows != 12 {
				t.Fatalf("%s: got %s, want one tree of 12 rows that agree", b.name, out.String())
			}
			tree := report.Trees[0]
			if tree.Fsck != b.flags {
				t.Errorf("%s: the flags are %q, want %q", b.name, tree.Fsck, b.flags)
			}
			after, err := os.ReadFile("../" + b.name + "/after/" + b.name + ".go")
			testerr.Must(t, err)
			got, want := fields(strings.Join(tree.Tags, "\n")), fields(string(after))
			if !slices.Equal(got, want) {
				t.Errorf("%s: the tags are %q, want %q", b.name, got, want)
			}
			if len(tree.Options) != 1 || !strings.Contains(string(after), tree.Options[0]) {
				t.Errorf("%s: the program has other options than %q", b.name, tree.Options)
			}
			named, columns := named(t, tree.Tags), b.table
			if columns.Table, columns.Key, columns.SingleTree = "", "", ""; columns.Deleted == "deleted_at" {
				columns.Deleted = "" // by its type
			}
			if !reflect.DeepEqual(named, columns) {
				t.Errorf("%s: without tags, the columns are %v, want %v", b.name, named, columns)
			}
			for _, statement := range tree.Statements {
				_, err := pool.ExecContext(t.Context(), statement.SQL)
				testerr.Must(t, err)
			}
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			if _, err := b.after(t.Context(), databases.Use(t, d.Dialector(pool)), client); err != nil {
				t.Errorf("%s: after the statements: %v", b.name, err)
			}
		})
	}
}

// named returns the columns that the option for models without tags names, read as Go's code.
func named(t *testing.T, tags []string) (columns fsck.Table) {
	_, code, _ := strings.Cut(tags[len(tags)-1], " the option ")
	option, err := parser.ParseExpr(code)
	testerr.Must(t, err)
	for _, e := range option.(*ast.CompositeLit).Elts {
		pair := e.(*ast.KeyValueExpr)
		value, err := strconv.Unquote(pair.Value.(*ast.BasicLit).Value)
		testerr.Must(t, err)
		reflect.ValueOf(&columns).Elem().FieldByName(pair.Key.(*ast.Ident).Name).SetString(value)
	}
	return columns
}

// fields returns the columns of fields with their tags of pathlock, in order.
func fields(source string) (found []string) {
	for _, m := range tagged.FindAllStringSubmatch(source, -1) {
		found = append(found, schema.NamingStrategy{}.ColumnName("", m[1])+" "+m[2])
	}
	slices.Sort(found)
	return found
}
