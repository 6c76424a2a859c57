package idempotency

import (
	"database/sql"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/middleware"
)

func TestKey_isReadWithAndWithoutQuotes(t *testing.T) {
	for header, want := range map[string]string{
		`"8e03978e-40d5-43e8"`: "8e03978e-40d5-43e8", "8e03978e-40d5-43e8": "8e03978e-40d5-43e8", `"a b"`: "a b",
		`"a\"b\\c"`: `a"b\c`, "a:b/c=+_.": "a:b/c=+_.", strings.Repeat("k", maxKey): strings.Repeat("k", maxKey),
	} {
		if got, err := parseKey([]string{header}); err != nil || got != want {
			t.Errorf("%s: got %q, %v", header, got, err)
		}
	}
	for _, header := range []string{"", `"`, `"a`, `"a\`, `"a\n"`, "\"a\nb\"", "a\tb", "ü", `a"`, strings.Repeat("k", maxKey+1)} {
		got, err := parseKey([]string{header})
		if !errors.Is(err, errKey) {
			t.Fatalf("%q: got %q, %v", header, got, err)
		}
		if said := middleware.ClientDetail(err); !strings.HasPrefix(said, "malformed key: ") {
			t.Errorf("%q: clients read %q", header, said)
		}
	}
}

// Two forms that were parsed before would look the same, of whichever length they are. Before that,
// the body counts, even if there is no limit.
func TestFingerprint_missesABodyThatWasRead(t *testing.T) {
	k := &Keys{config: Config{MaxBody: math.MaxInt64}}
	for _, length := range []int64{6, -1} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("name=x"))
		c.Request.Header.Set("Content-Type", gin.MIMEPOSTForm)
		c.Request.ContentLength = length
		if got, err := k.fingerprint(c); err != nil || got != hash(http.MethodPost, "/", "", "name=x") {
			t.Errorf("of %d unread bytes: %q, %v", length, got, err)
		}
		if got := c.PostForm("name"); got != "x" {
			t.Fatalf("the form has %q", got)
		}
		if _, err := k.fingerprint(c); !errors.Is(err, web.ErrGone) {
			t.Errorf("of %d bytes: %v", length, err)
		}
	}
}

func TestHash_tellsListsApart(t *testing.T) {
	seen := make(map[string]bool)
	for _, list := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {}} {
		if h := hash(list...); seen[h] {
			t.Errorf("%q has the hash of another list", list)
		} else {
			seen[h] = true
		}
	}
}

// The refusal of a bound says which one it is.
func TestNew_namesAnInvalidBound(t *testing.T) {
	db, err := gorm.Open(mysql.New(mysql.Config{Conn: &sql.DB{}, SkipInitializeWithVersion: true}), &gorm.Config{DisableAutomaticPing: true})
	testerr.Must(t, err)
	for says, config := range map[string]Config{
		"Lease (1ns)": {Lease: 1}, "Keep (1s)": {Keep: time.Second}, "MaxBody (-1)": {MaxBody: -1}, "MaxAnswer (-1)": {MaxAnswer: -1},
	} {
		if _, err := New(db, config); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestTableNamesNeedNoQuotes(t *testing.T) {
	for name, ok := range map[string]bool{"keys_2": true, "app.keys": true, "Keys": false, "k; DROP": false, "": false, "a.b.c": false, "2k": false} {
		if _, err := newStatements(dialect.MySQL, name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Schema("sqlite", "app.keys"); err == nil {
		t.Error("SQLite has schemas")
	}
	if _, err := Schema("oracle", "keys"); err == nil {
		t.Error("oracle is known")
	}
}
