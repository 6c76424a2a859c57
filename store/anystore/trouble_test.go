package anystore_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Trouble tells a store that is not there from one that answers and does not serve.
func TestTroubleSaysWhatIsWrong(t *testing.T) {
	type trouble struct{ name, url, says string }
	tests := []trouble{{"nobody there", "redis://127.0.0.1:1/0", "does not answer"}}
	if testserver.Available(testserver.RedisVariable) {
		redis, err := url.Parse(testserver.Redis(t))
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests,
			trouble{"no such user", "redis://nobody:hidden@" + redis.Host + "/0", "refuses the user or the password"},
			trouble{"no such database", "redis://" + redis.Host + "/99999", "has no database of that number"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := open(t, tt.url).Ping(t.Context())
			if err == nil || anystore.Trouble(err) != tt.says {
				t.Errorf("%v: the lock store %q, want %q", err, anystore.Trouble(err), tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v tells the password", err)
			}
		})
	}
}
