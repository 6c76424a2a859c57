package readme

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The routes of the drive lock in the tree of the user and the storage, and a file is no parent.
func TestDrive(t *testing.T) {
	db, r := open(t), gin.New()
	r.Use(func(c *gin.Context) { c.Set("uid", int64(7)) })
	file := File{UIDSid: "7:3", Name: "a", Alias: "x", IsDir: true}
	create := func(c *gin.Context) {
		if err := db.WithContext(t.Context()).Create(&File{UIDSid: "7:3", Dir: "a/", Name: "b", Alias: "y"}).Error; !errors.Is(err, gormplugin.ErrNoRequestContext) {
			t.Errorf("without the request's context: %v", err)
		}
		testerr.Must(t, db.WithContext(c.Request.Context()).Create(&File{UIDSid: "7:3", Dir: "a/", Name: "b", Alias: "y"}).Error)
	}
	none := func(*gin.Context) {}
	testerr.Must(t, start(r, memstore.New(), drive{create, none, none})(db))
	testerr.Must(t, db.Create(&file).Error)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/files", strings.NewReader(`{"sid": 3, "dir": "a/", "name": "b"}`)))
	if w.Code != http.StatusOK {
		t.Errorf("the answer is %d %s", w.Code, w.Body)
	}
	for dir, want := range map[string]error{"": nil, "/": nil, "a/": nil, "/a/b": gorm.ErrRecordNotFound} {
		place, err := folder(db, "7:3", dir)
		if !errors.Is(err, want) {
			t.Errorf("below %q: %v, want %v", dir, err, want)
		} else if err == nil && dir != "a/" {
			testerr.Must(t, gormplugin.Move(db, &File{}, file.ID, place))
		}
	}
}
