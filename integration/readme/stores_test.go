package readme

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No store is forgotten: each has a row in the table of the stores.
func TestThePageOnStoresHasAllStores(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join("..", "..", "store"))
	if err != nil {
		t.Fatal(err)
	}
	others := []string{"internal", "storetest", "ticketstore", "anystore"} // no stores of their own
	page := readPage(t, filepath.Join("..", "..", "docs", "stores.md"))
	for _, f := range folders {
		if f.IsDir() && !slices.Contains(others, f.Name()) && !strings.Contains(page, "\n| `"+f.Name()+"` |") {
			t.Errorf("docs/stores.md has no row for %s", f.Name())
		}
	}
}
