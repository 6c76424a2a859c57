package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sqlFolders are where the SQL is that this project sends to databases, below the repository's
// folder.
var sqlFolders = []string{"gormplugin", "fsck", "internal", "sample-app", "cmd"}

// sqlWords are the words of SQL texts that are not SQL's own, with where they are: this project
// writes keywords in capitals, and names in small letters.
type sqlWords struct {
	// names are those of columns, tables and aliases without quotes, functions those of functions,
	// in any case.
	names, functions map[string]string
}

// writtenSQL collects the words of everything that may be sent to a database: the .sql files, and
// the strings in Go that read like SQL. GORM puts the names that it writes itself into quotes.
func writtenSQL(t *testing.T) sqlWords {
	t.Helper()
	w := sqlWords{map[string]string{}, map[string]string{}}
	for _, folder := range sqlFolders {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (strings.HasSuffix(path, "test") || entry.Name() == "testdata"):
				return fs.SkipDir // gormplugintest, fscktest, apitest
			case filepath.Ext(path) == ".sql":
				text, err := os.ReadFile(path)
				w.read(string(text), path)
				return err
			case filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go"):
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				if err == nil {
					w.readGo(file, path)
				}
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// readsLikeSQL is what strings in Go have that are SQL or a part of it: a keyword in capitals, or a
// comparison.
var readsLikeSQL = regexp.MustCompile(`(^|[^A-Za-z])(SELECT|INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|SET|FROM|JOIN|WHERE|ON|AND|OR|NOT|ORDER BY|GROUP BY|` +
	`LIMIT|UNION|VALUES|RETURNING|CASE|WHEN|THEN|ELSE|AS|EXISTS|IN|IS|BETWEEN|COLLATE|DESC|ASC)([^A-Za-z]|$)|^[a-z_.]+ (=|<>|<|>|<=|>=) |[A-Z_]{3,}\(`)

// prose is what no SQL has: a sentence goes on after these, and a route's method is followed by its
// path.
var prose = regexp.MustCompile(`^[A-Z]+ /|[a-z]: |[a-z], [a-z]+ (the|a|of|to|it)\b|\b(the|a|an|of|that|which|cannot)\b`)

// readGo reads the strings of a file. Those that are put together are read as one, with an operand
// between them.
func (w sqlWords) readGo(file *ast.File, path string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if _, imports := n.(*ast.ImportSpec); imports {
			return false
		}
		if f, ok := n.(*ast.Field); ok && f.Tag != nil {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := textOf(e)
		if ok && readsLikeSQL.MatchString(text) && !prose.MatchString(text) {
			w.read(text, path)
		}
		return !ok
	})
}

// textOf returns the text of a string, or of a sum with a string in it.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			left, isText := textOf(e.X)
			right, too := textOf(e.Y)
			if isText || too {
				return left + " ? " + right, true
			}
		}
	}
	return "", false
}

// sqlToken is what SQL is cut into: comments, strings, quoted names, parameters, types and words.
var sqlToken = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|` + "`[^`]*`" + `|::\w+|\$\{\w+\}|%\[?\d*\]?[a-z]|[$@:]+\w+|[A-Za-z_]\w*|\S`)

// read adds the words of one text.
func (w sqlWords) read(text, path string) {
	tokens := sqlToken.FindAllString(text, -1)
	for i, word := range tokens {
		if !isWord(word) {
			continue
		}
		after, before := "", ""
		if i+1 < len(tokens) {
			after = tokens[i+1]
		}
		if i > 0 {
			before = tokens[i-1]
		}
		switch {
		case after == "(":
			w.functions[strings.ToUpper(word)] = path
		case word == strings.ToLower(word), before == "AS" && !isType(tokens[i:]):
			w.names[strings.ToUpper(word)] = path
		}
	}
}

func isWord(token string) bool {
	b := token[0] | 0x20
	return b >= 'a' && b <= 'z' || token[0] == '_'
}

// isType reports whether what follows AS is the type of a CAST, which ends with its bracket.
func isType(tokens []string) bool {
	return len(tokens) > 1 && tokens[1] == ")" && tokens[0] == strings.ToUpper(tokens[0])
}

// What is taken for a name, and what for a function.
func TestSQLWords(t *testing.T) {
	for _, c := range []struct{ text, names, functions string }{
		{"SELECT generated FROM x", "GENERATED X", ""},
		{"SELECT A AS GENERATED, CAST(b AS CHAR) AS c", "B C GENERATED", "CAST"},
		{"SELECT 'desc', \"asc\", `key` -- for all\n, $1::text, @@SESSION.sql_mode /* in */", "SQL_MODE", ""},
		{"SELECT x.key, MD5(y), sha1 (z)", "KEY X Y Z", "MD5 SHA1"},
		{"CREATE TABLE t (rank BIGINT NOT NULL, n VARCHAR(10)) COLLATE ${binary}", "N RANK", "T VARCHAR"},
	} {
		w := sqlWords{map[string]string{}, map[string]string{}}
		w.read(c.text, "")
		if got := joined(w.names); got != c.names {
			t.Errorf("%s: the names %q, want %q", c.text, got, c.names)
		}
		if got := joined(w.functions); got != c.functions {
			t.Errorf("%s: the functions %q, want %q", c.text, got, c.functions)
		}
	}
}
