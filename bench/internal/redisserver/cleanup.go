package redisserver

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// keysAtOnce is how many keys one command reads or deletes.
const keysAtOnce = 1000

// eachBatch calls do with the names of all keys that begin with prefix, some hundreds at a time.
// The prefix must not have characters with a meaning in a pattern.
func eachBatch(ctx context.Context, client redis.UniversalClient, prefix string, do func(keys []string) error) error {
	var cursor uint64
	for {
		keys, next, err := client.Scan(ctx, cursor, prefix+"*", keysAtOnce).Result()
		if err != nil {
			return fmt.Errorf("looking for the keys %s*: %w", prefix, err)
		}
		if len(keys) > 0 {
			if err := do(keys); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// Delete deletes all keys whose names begin with prefix.
func Delete(ctx context.Context, client redis.UniversalClient, prefix string) error {
	return eachBatch(ctx, client, prefix, func(keys []string) error {
		if err := client.Del(ctx, keys...).Err(); err != nil {
			return fmt.Errorf("deleting keys: %w", err)
		}
		return nil
	})
}

// Memory returns the memory in bytes, by MEMORY USAGE over all elements, of the keys whose names
// begin with prefix.
func Memory(ctx context.Context, client redis.UniversalClient, prefix string) (int64, error) {
	var total int64
	seen := make(map[string]bool) // SCAN may name a key twice
	err := eachBatch(ctx, client, prefix, func(keys []string) error {
		keys = slices.DeleteFunc(keys, func(key string) bool { return seen[key] })
		for _, key := range keys {
			seen[key] = true
		}
		usages := make([]*redis.IntCmd, len(keys))
		_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, key := range keys {
				usages[i] = p.MemoryUsage(ctx, key, 0)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("asking for the memory of keys: %w", err)
		}
		for _, u := range usages {
			total += u.Val()
		}
		return nil
	})
	return total, err
}
