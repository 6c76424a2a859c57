package anystore_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// A server gets the password to the letter.
func TestWithPassword_reachesTheServer(t *testing.T) {
	const password = `s/e#c?r@e%t:,;|+ $()'"\é`
	server := testredis.Start(t, testredis.Redis)
	server.Do("CONFIG", "SET", "requirepass", password)
	url := "redis://" + server.Addr + "/0"
	testerr.None(t, open(t, url, anystore.WithPassword(password)).Ping(t.Context()))
	err := open(t, url, anystore.WithPassword("not"+password)).Ping(t.Context())
	if err == nil || anystore.Trouble(err) != "refuses the user or the password" || strings.Contains(err.Error(), "e#c?r") {
		t.Errorf("another password: %v", err)
	}
}
