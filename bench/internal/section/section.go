package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/mariadb"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
)

// Section is one question.
type Section struct {
	Name     string
	Question string
	// Server says which servers it needs.
	Server  Server
	measure func(ctx context.Context, env *Env) (result, error)
}

// Server is a set of servers that sections need.
type Server uint8

// The servers.
const (
	Redis Server = 1 << iota
	MariaDB
	NoServer Server = 0
)

// Includes reports whether other is one of the servers.
func (s Server) Includes(other Server) bool { return s&other != 0 }

// result is a section's answer.
type result struct {
	tables  []report.Table
	targets []report.Target
	notes   []string
}

// All returns the sections in the order of a run.
func All() []Section {
	return []Section{
		{"latency", "what do an uncontended acquisition and its release take, one after the other?", Redis, latency},
		{"throughput", "how many do 64 goroutines that never conflict get done?", Redis, throughput},
		{"held", "does it cost more where many locks are held?", Redis, heldLocks},
		{"waiters", "does it cost more where others wait elsewhere in the tree?", Redis, waiters},
		{"renewal", "what does a process spend on keeping its leases alive?", Redis, renewal},
		{"deadlines", "what fails where goroutines with deadlines share a store at a distance?", Redis, deadlines},
		{"memory", "what does a held lock take of the server's memory?", Redis, memory},
		{"wakeup", "how soon after a release has the one who waits got the lock?", Redis, wakeUp},
		{"drain", "how soon after a release have many waiting processes each had the lock?", Redis, drain},
		{"stores", "what does each lock store cost, and how soon does it wake those who wait?", Redis | MariaDB, stores},
		{"scripts", "does any script occupy the server for longer than a millisecond?", Redis, scripts},
		{"deadlocks", "how long does it take to find out who waits for whom?", Redis, deadlocks},
		{"replicas", "what does it cost to wait until a replica has the grant?", Redis, replicas},
		{"reentry", "what does an acquisition cost under a lock that covers it?", NoServer, reentry},
		{"local", "how long does locking take within one process?", NoServer, local},
		{"givingup", "how long does it take one of many waiters to give up?", NoServer, givingUp},
		{"middleware", "what does the middleware add to a request?", NoServer, middlewareCost},
		{"statements", "how many statements does a write cost with the GORM plugin, and with safe code by hand?", MariaDB, statements},
		{"gorminsert", "what does an insert cost with the GORM plugin, and with safe code by hand?", MariaDB, gormInsert},
		{"gormrename", "what does the rename of a large subtree cost, compared with the bare statement?", MariaDB, gormRename},
		{"gormuntagged", "what does the GORM plugin add to writes on tables without a tree?", NoServer, gormUntagged},
		{"http", "how many changes a second does the sample app make under each rule of locking, and under none?", Redis | MariaDB, httpChanges},
	}
}

// Env is the environment of sections.
type Env struct {
	// URL is that of the Redis; "" if no section of the run needs one.
	URL string
	// DSN is that of the MariaDB, for a user who may create databases; "" if no section of the run
	// needs one.
	DSN string
	// Own is the Redis if this run has started it, and nil if it is somebody else's.
	Own *redisserver.Server
	// OwnSQL is the same for the MariaDB.
	OwnSQL *mariadb.Server
	// Admin reads counters and cleans up.
	Admin redis.UniversalClient
	Plan  Plan
	// Program is the executable whose main function calls [ServeWaiter] if [IsWaiter] returns true.
	Program string
}

// server returns where the contenders of a section keep their locks, under a prefix of its own.
func (e *Env) server(name string) contender.Server {
	return contender.Server{URL: e.URL, Prefix: "bench-" + name + "-" + strings.ToLower(rand.Text()[:8])}
}

// Run measures the section.
func (s Section) Run(ctx context.Context, env *Env) (report.Section, error) {
	start := time.Now()
	r, err := s.measure(ctx, env)
	if err != nil {
		return report.Section{}, fmt.Errorf("section %s: %w", s.Name, err)
	}
	for i, t := range r.targets {
		r.targets[i] = report.Judge(t)
	}
	return report.Section{
		Name: s.Name, Question: s.Question, Seconds: time.Since(start).Seconds(),
		Tables: r.tables, Targets: r.targets, Notes: r.notes,
	}, nil
}

// field is a set of open contenders.
type field struct {
	contenders []contender.Contender
	open       []contender.Locks
	at         contender.Server
	admin      redis.UniversalClient
}

// openField opens contenders for a section, under a prefix that nobody else has.
func openField(ctx context.Context, env *Env, name string, contenders []contender.Contender) (*field, error) {
	return openFieldAt(ctx, env, env.server(name), contenders)
}

// openFieldAt opens contenders at the place of other open ones, as another process does.
func openFieldAt(ctx context.Context, env *Env, at contender.Server, contenders []contender.Contender) (*field, error) {
	f := &field{contenders: contenders, at: at, admin: env.Admin}
	for _, c := range contenders {
		locks, err := c.Open(ctx, f.at)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening %s: %w", c.Name, err), f.close(ctx))
		}
		f.open = append(f.open, locks)
	}
	return f, nil
}

// close closes the contenders and deletes their keys.
func (f *field) close(ctx context.Context) error {
	var errs []error
	for i, locks := range f.open {
		if err := locks.Close(); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", f.contenders[i].Name, err))
		}
	}
	if f.admin != nil {
		errs = append(errs, redisserver.Delete(context.WithoutCancel(ctx), f.admin, f.at.Prefix))
	}
	return errors.Join(errs...)
}

// names are the contenders' names, in order.
func (f *field) names() []string {
	names := make([]string, len(f.contenders))
	for i, c := range f.contenders {
		names[i] = c.Name
	}
	return names
}
