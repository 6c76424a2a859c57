package adopt

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// The flag for leaves is read as it is written, whatever separates names.
func TestLeafFlag_isReadAsItIsWritten(t *testing.T) {
	for separator := range strings.SplitSeq(treetable.NameSeparators, "") {
		leaf := treetable.Table{Table: "files", Key: "id", Parent: "a b&c", Name: "name", Path: "dir", PathForm: "parent:*" + separator + "*" + separator}
		_, query, _ := strings.Cut(leafFlag(leaf), "?")
		read, err := url.ParseQuery(query)
		if err != nil || read.Get("parent") != leaf.Parent || read.Get("path-form") != leaf.PathForm {
			t.Errorf("%s is read as %v (%v)", query, read, err)
		}
	}
}
