package redisserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// mainThread are the fields of INFO cpu that say what the thread that carries out commands has
// used, in the user's mode and in the system's, in seconds.
var mainThread = [...]string{"used_cpu_user_main_thread", "used_cpu_sys_main_thread"}

// ReadCPU returns how much of a processor's time the server's main thread has used since it
// started: what it takes to read, carry out and answer commands, and not what it waits for a
// processor that others have. It needs Redis 6.2 or newer.
func ReadCPU(ctx context.Context, client redis.UniversalClient) (time.Duration, error) {
	text, err := client.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, fmt.Errorf("reading the server's processor time: %w", err)
	}
	return parseCPU(text)
}

// parseCPU reads lines such as
//
//	used_cpu_user_main_thread:1.250003
func parseCPU(text string) (time.Duration, error) {
	used := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			used[name] = value
		}
	}
	var total time.Duration
	for _, name := range mainThread {
		value, ok := used[name]
		if !ok {
			return 0, fmt.Errorf("the server does not tell its %s", name)
		}
		seconds, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("%s is not a number: %w", name, err)
		}
		total += time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
	}
	return total, nil
}
