package redisstore_test

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testURL returns the URL of the Redis that tests share with others.
func testURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("PATHLOCK_TEST_REDIS")
	if url == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("PATHLOCK_TEST_REDIS is not set")
		}
		t.Skip("needs a Redis: set PATHLOCK_TEST_REDIS to its redis:// URL")
	}
	return url
}

// newClient returns a client of its own for the shared Redis.
func newClient(t testing.TB) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(testURL(t))
	if err != nil {
		t.Fatalf("PATHLOCK_TEST_REDIS: %v", err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return client
}

// newStore returns a store with a client of its own.
func newStore(t testing.TB, opts ...redisstore.Option) *redisstore.Store {
	t.Helper()
	store := redisstore.New(newClient(t), opts...)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return store
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t) })
}
