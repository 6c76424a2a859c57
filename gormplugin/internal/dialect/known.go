package dialect

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// dialects are those that are known.
var dialects = []*Dialect{&mysqlDialect, &postgresDialect, &sqliteDialect}

// Of returns the dialect with GORM's name for it.
func Of(name string) (*Dialect, error) {
	var known []string
	for _, d := range dialects {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return nil, fmt.Errorf("%w: the dialect %q is not known; known are %s", fault.ErrUnsupportedDatabase, name, strings.Join(known, ", "))
}
