package integration

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// shelf is a tree of its own.
type shelf struct {
	ID       int64
	CaseID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// Settings with which no request could ever be served are refused when the plugin is registered.
func TestThePluginRefusesSettingsThatNoRequestCanWorkWith(t *testing.T) {
	for _, tt := range []struct {
		name      string
		locker    pathlock.Option
		namespace string
		matches   error // nil is that they work
	}{
		{"usual ones", pathlock.WithLease(time.Minute), "shelves", nil},
		{"a namespace of 255 bytes", pathlock.WithLease(time.Minute), strings.Repeat("n", 255), nil},
		{"a namespace of 256 bytes", pathlock.WithLease(time.Minute), strings.Repeat("n", 256), pathlock.ErrInvalidTree},
		{"a namespace with a control character", pathlock.WithLease(time.Minute), "a\nb", pathlock.ErrInvalidTree},
		{"a lease of a millisecond", pathlock.WithLease(time.Millisecond), "shelves", pathlock.ErrInvalidRequest},
		{"a negative wait", pathlock.WithWait(-time.Minute), "shelves", pathlock.ErrInvalidRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, err := gorm.Open(gormlite.Open("file:" + filepath.Join(t.TempDir(), "db")))
			if err != nil {
				t.Fatal(err)
			}
			pool, err := db.DB()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = pool.Close() }()
			locker := pathlock.New(memstore.New(), tt.locker)
			err = db.Use(gormplugin.New(locker, gormplugin.Model(&shelf{}, gormplugin.Namespace(tt.namespace))))
			if !errors.Is(err, tt.matches) || (err == nil) != (tt.matches == nil) {
				t.Errorf("Use: %v, want %v", err, tt.matches)
			}
		})
	}
}
