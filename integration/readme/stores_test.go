package readme

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test[A-Z]\w*)\(t \*testing\.T`)
	testName     = regexp.MustCompile(`\bTest[A-Z]\w+`)
	rowOfAStore  = regexp.MustCompile("^\\| `(\\w+)` \\|")
)

// testsBelow returns the names of the tests in a folder of the repository and the folders below.
func testsBelow(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	root := filepath.Join(append([]string{"..", ".."}, folders...)...)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, f := range testFunction.FindAllSubmatch(text, -1) {
			found[string(f[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every test that the page on stores names is there: in a row of a store, in that store.
func TestThePageOnStoresNamesTests(t *testing.T) {
	everywhere := testsBelow(t)
	page := readPage(t, filepath.Join("..", "..", "docs", "stores.md"))
	named, rows := 0, map[string]int{}
	for line := range strings.Lines(page) {
		there, where := everywhere, "anywhere"
		if row := rowOfAStore.FindStringSubmatch(line); row != nil {
			there, where = testsBelow(t, "store", row[1]), "in store/"+row[1]
			rows[row[1]]++
		}
		for _, name := range testName.FindAllString(line, -1) {
			if named++; !there[name] {
				t.Errorf("there is no %s %s", name, where)
			}
		}
	}
	if named < 30 {
		t.Errorf("the page names %d tests: some are gone, or are not found", named)
	}
	for _, store := range []string{"memstore", "redisstore", "sqlstore", "zkstore", "etcdstore", "quorum"} {
		if rows[store] < 2 {
			t.Errorf("%s is missing in a table", store)
		}
	}
}

// No store is forgotten: each has a row in the tables, but the ones that have nothing to compare.
func TestThePageOnStoresHasAllStores(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join("..", "..", "store"))
	if err != nil {
		t.Fatal(err)
	}
	// What is no store of its own, and the store that holds nothing.
	others := []string{"internal", "storetest", "ticketstore", "anystore", "offstore"}
	page := readPage(t, filepath.Join("..", "..", "docs", "stores.md"))
	for _, f := range folders {
		if f.IsDir() && !slices.Contains(others, f.Name()) && !strings.Contains(page, "\n| `"+f.Name()+"` |") {
			t.Errorf("docs/stores.md has no row for %s", f.Name())
		}
	}
}
