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

// Counters are the counters of a Redis since it started.
type Counters struct {
	// Commands is the number of commands that clients sent, without INFO.
	Commands int64
	// Scripts is the number of EVALSHA and EVAL calls, and ScriptTime their time in the server.
	Scripts    int64
	ScriptTime time.Duration
}

// Minus returns the difference to an earlier reading.
func (c Counters) Minus(earlier Counters) Counters {
	return Counters{c.Commands - earlier.Commands, c.Scripts - earlier.Scripts, c.ScriptTime - earlier.ScriptTime}
}

// ReadCounters reads INFO commandstats. It counts the calls of scripts like the commands of
// clients, so Commands is exact only if no script ran. If Commands stands still, nobody did
// anything.
func ReadCounters(ctx context.Context, client redis.UniversalClient) (Counters, error) {
	text, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return Counters{}, fmt.Errorf("reading the server's counters: %w", err)
	}
	return parseCounters(text)
}

// parseCounters reads lines such as
//
//	cmdstat_evalsha:calls=2,usec=58,usec_per_call=29.00,rejected_calls=0,failed_calls=1
func parseCounters(text string) (Counters, error) {
	var c Counters
	for line := range strings.Lines(text) {
		name, fields, ok := strings.Cut(strings.TrimSpace(line), ":")
		command, isStat := strings.CutPrefix(name, "cmdstat_")
		if !ok || !isStat || command == "info" {
			continue
		}
		calls, err := field(fields, "calls")
		if err != nil {
			return Counters{}, err
		}
		c.Commands += calls
		if command != "evalsha" && command != "eval" {
			continue
		}
		usec, err := field(fields, "usec")
		if err != nil {
			return Counters{}, err
		}
		c.Scripts += calls
		c.ScriptTime += time.Duration(usec) * time.Microsecond
	}
	return c, nil
}

// field returns one number from a line of INFO.
func field(fields, name string) (int64, error) {
	for f := range strings.SplitSeq(fields, ",") {
		if value, ok := strings.CutPrefix(f, name+"="); ok {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s in %q is not a number: %w", name, fields, err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("there is no %s in %q", name, fields)
}

// How often Quiet looks, how many times in a row it must see no change, and how long it looks at
// most.
const (
	quietPause = 2 * time.Millisecond
	quietLooks = 4

	quietTimeout = 20 * time.Second
)

// Quiet waits until the server has done nothing for some milliseconds. By then, everybody who waits
// for a lock is in the queue. If others use the server, it is never quiet, and Quiet returns an
// error after a while.
func Quiet(ctx context.Context, client redis.UniversalClient) error {
	ctx, cancel := context.WithTimeoutCause(ctx, quietTimeout, errors.New("somebody else uses it"))
	defer cancel()
	tick := time.NewTicker(quietPause)
	defer tick.Stop()
	last, unchanged := Counters{}, 0
	for unchanged < quietLooks {
		now, err := ReadCounters(ctx, client)
		if err != nil {
			return err
		}
		if now == last {
			unchanged++
		} else {
			last, unchanged = now, 0
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the server to be quiet: %w", context.Cause(ctx))
		}
	}
	return nil
}

// Version returns the version that the server reports.
func Version(ctx context.Context, client redis.UniversalClient) (string, error) {
	text, err := client.Info(ctx, "server").Result()
	if err != nil {
		return "", fmt.Errorf("reading the server's version: %w", err)
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return v, nil
		}
	}
	return "", fmt.Errorf("the server does not tell its version")
}
