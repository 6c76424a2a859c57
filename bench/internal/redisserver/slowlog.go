package redisserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// SlowlogFrom is the shortest time of a command in a [Slowlog]. From 0 on, Redis would also log the
// calls inside scripts, and the time of a script would include the logging. Most calls inside
// scripts take less than this, and most scripts take more.
const SlowlogFrom = 10 * time.Microsecond

// slowlogLength is how many entries the server keeps.
const slowlogLength = 100_000

// The parameters of the server's log.
const (
	slowlogFromParameter   = "slowlog-log-slower-than"
	slowlogLengthParameter = "slowlog-max-len"
)

// Slowlog is a server's SLOWLOG, set to log every command that takes [SlowlogFrom] or longer.
type Slowlog struct {
	client redis.UniversalClient
	// before are the former parameters.
	before map[string]string
}

// StartSlowlog changes the parameters of the server's log, whose entries will be lost. Call Stop in
// the end.
func StartSlowlog(ctx context.Context, client redis.UniversalClient) (*Slowlog, error) {
	l := &Slowlog{client, make(map[string]string)}
	for _, name := range []string{slowlogFromParameter, slowlogLengthParameter} {
		got, err := client.ConfigGet(ctx, name).Result()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		l.before[name] = got[name]
	}
	err := l.set(ctx, map[string]string{
		slowlogFromParameter:   strconv.FormatInt(SlowlogFrom.Microseconds(), 10),
		slowlogLengthParameter: strconv.Itoa(slowlogLength),
	})
	if err != nil {
		return nil, errors.Join(err, l.Stop(ctx))
	}
	return l, nil
}

// Clear removes all entries.
func (l *Slowlog) Clear(ctx context.Context) error {
	if err := l.client.Do(ctx, "slowlog", "reset").Err(); err != nil {
		return fmt.Errorf("clearing the log of slow commands: %w", err)
	}
	return nil
}

// Scripts returns the time in the server of each EVALSHA whose first key begins with prefix. It
// fails if the log was too short.
func (l *Slowlog) Scripts(ctx context.Context, prefix string) ([]time.Duration, error) {
	entries, err := l.client.SlowLogGet(ctx, slowlogLength).Result()
	if err != nil {
		return nil, fmt.Errorf("reading the log of slow commands: %w", err)
	}
	if len(entries) >= slowlogLength {
		return nil, fmt.Errorf("the log of slow commands is full, with %d entries", len(entries))
	}
	return scriptTimes(entries, prefix), nil
}

// scriptTimes returns the times of the entries EVALSHA sha number-of-keys key… whose key begins
// with prefix.
func scriptTimes(entries []redis.SlowLog, prefix string) []time.Duration {
	const firstKey = 3
	var times []time.Duration
	for _, e := range entries {
		if len(e.Args) > firstKey && strings.EqualFold(e.Args[0], "evalsha") && e.Args[firstKey-1] != "0" && strings.HasPrefix(e.Args[firstKey], prefix) {
			times = append(times, e.Duration)
		}
	}
	return times
}

// Stop restores the former parameters, and clears the log.
func (l *Slowlog) Stop(ctx context.Context) error {
	return errors.Join(l.set(ctx, l.before), l.Clear(ctx))
}

func (l *Slowlog) set(ctx context.Context, parameters map[string]string) error {
	for name, value := range parameters {
		if err := l.client.ConfigSet(ctx, name, value).Err(); err != nil {
			return fmt.Errorf("setting %s to %s: %w", name, value, err)
		}
	}
	return nil
}
