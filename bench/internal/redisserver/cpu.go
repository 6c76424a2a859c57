package redisserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// mainThread are the fields of INFO cpu with the time of the thread that executes commands, in user
// and system mode, in seconds.
var mainThread = [...]string{"used_cpu_user_main_thread", "used_cpu_sys_main_thread"}

// ReadCPU returns the processor time that the server's main thread has used since it started. The
// thread reads, executes and answers commands. Its waits for a processor do not count. It needs
// Redis 6.2 or newer.
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
