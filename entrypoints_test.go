package pathlock_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
