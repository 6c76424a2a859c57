package middleware

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// Locks makes middleware that takes locks. Make one with [New] and use it for all routes.
type Locks struct {
	locker    *pathlock.Locker
	resolvers map[string]pathlock.Resolver
	config    Config
	// prepared are the resolvers that keep what they read for the handlers.
	prepared []pathlock.PreparedResolver
	// batches says that there are resolvers of several ids at once.
	batches bool
	// wait is how long a request waits at most.
	wait time.Duration
	// carrier is the key under which gin's own context has the locks of its request.
	carrier any
	// explainers are those that know errors which say nothing themselves.
	explainers []pathlock.FailureExplainer
}
