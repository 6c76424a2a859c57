package redisstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/delayproxy"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// BenchmarkPipeline compares ways to send the store's commands: its own pipeline, each command by
// itself, and go-redis's auto-pipelining in several forms; with the server next door, and at a
// distance. The ways take turns, so that what slows the machine down slows all of them. A metric
// with a name such as autopipeline/own is the median of what turns of that way took, by what the
// own pipeline's turns beside them took: above 1, the own pipeline is the faster. What an operation
// is, is an acquisition with its release, each goroutine in a tree of its own.
//
//	go test ./store/redisstore -run '^$' -bench Pipeline -benchtime 60x
func BenchmarkPipeline(b *testing.B) {
	for _, delay := range []time.Duration{0, time.Millisecond} {
		for _, goroutines := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("delay-%v/goroutines-%d", delay, goroutines), func(b *testing.B) {
				benchmarkPipeline(b, delay, goroutines)
			})
		}
	}
}

// processFunc sends a command and waits for its reply.
type processFunc func(ctx context.Context, cmd redis.Cmder) error

// sendingWay is a store that sends its commands in one of the ways.
type sendingWay struct {
	name  string
	store *Store
	trees []pathlock.Tree
	// took is what each turn took.
	took []time.Duration
}

// ownWay is what the other ways are compared with.
const ownWay = "own"

// sendingWays opens a store, with a client of its own, for each way.
func sendingWays(b *testing.B, addr string, goroutines int) []*sendingWay {
	b.Helper()
	var ways []*sendingWay
	for _, way := range []struct {
		name    string
		process func(*redis.Client) (processFunc, error)
	}{
		{ownWay, nil},
		{"process", func(c *redis.Client) (processFunc, error) { return c.Process, nil }},
		{"autopipeline", blockingFace(redis.DefaultBlockingAutoPipelineOptions())},
		{"parallel", blockingFace(&redis.AutoPipelineOptions{Unordered: true, MaxConcurrentBatches: lua.UnderwayLimit})},
		{"fullduplex", blockingFace(&redis.AutoPipelineOptions{FullDuplex: true})},
		{"fullduplex-deadline", fullDuplexWithDeadlines},
	} {
		options, err := redis.ParseURL(testserver.Redis(b))
		if err != nil {
			b.Fatal(err)
		}
		options.Addr, options.ContextTimeoutEnabled = addr, true
		client := closeClient(b, redis.NewClient(options))
		w := &sendingWay{name: way.name, store: closeStore(b, New(client))}
		if way.process != nil {
			process, err := way.process(client)
			if err != nil {
				b.Fatal(err)
			}
			w.store.runner.Process = func(ctx context.Context, _ lua.Lane, cmd redis.Cmder) error { return process(ctx, cmd) }
		}
		for range goroutines {
			w.trees = append(w.trees, newTree(b))
		}
		ways = append(ways, w)
	}
	return ways
}

// blockingFace is go-redis's auto-pipelining, in which a call waits for its reply for as long as
// that takes.
func blockingFace(o *redis.AutoPipelineOptions) func(*redis.Client) (processFunc, error) {
	return func(client *redis.Client) (processFunc, error) {
		ap, err := client.AutoPipelineWithOptions(o)
		if err != nil {
			return nil, err
		}
		return ap.Process, nil
	}
}

// fullDuplexWithDeadlines is the same, except that a call waits until its deadline at most: only
// its other face can do that, which needs a timer.
func fullDuplexWithDeadlines(client *redis.Client) (processFunc, error) {
	ap, err := client.AsyncAutoPipelineWithOptions(&redis.AutoPipelineOptions{FullDuplex: true})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, cmd redis.Cmder) error {
		latest, ok := ctx.Deadline()
		if ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, latest)
			defer cancel()
		}
		return ap.Submit(ctx, cmd).WaitContext(ctx)
	}, nil
}

func benchmarkPipeline(b *testing.B, delay time.Duration, goroutines int) {
	addr := newClient(b).Options().Addr
	if delay > 0 {
		addr = proxyAt(b, addr, delay)
	}
	ways := sendingWays(b, addr, goroutines)
	const operations = 20
	for _, w := range ways {
		w.turn(b, operations) // connections are made, and scripts loaded
	}
	turn := 0
	for b.Loop() {
		for k := range ways {
			w := ways[(turn+k)%len(ways)]
			w.took = append(w.took, w.turn(b, operations))
		}
		turn++
	}
	b.ReportMetric(0, "ns/op") // of all ways together: it says nothing
	for _, w := range ways {
		b.ReportMetric(float64(goroutines*operations)/median(w.took).Seconds(), w.name+"-locks/s")
		if w.name != ownWay {
			b.ReportMetric(medianRatio(w.took, ways[0].took), w.name+"/own")
		}
	}
}

// proxyAt starts a proxy before the server, which answers that much later, and returns its address.
func proxyAt(b *testing.B, server string, delay time.Duration) string {
	b.Helper()
	proxy, err := delayproxy.Start(b.Context(), server, delay)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			b.Error(err)
		}
	})
	return proxy.Addr()
}

// turn has each goroutine acquire and release so many times, and returns what that took.
func (w *sendingWay) turn(b *testing.B, operations int) time.Duration {
	leaf := pathlock.MustParsePath("/a/b/c")
	var work sync.WaitGroup
	start := time.Now()
	for _, tree := range w.trees {
		work.Go(func() {
			req := ask(tree, pathlock.X(leaf))
			for range operations {
				if _, err := w.store.Acquire(b.Context(), req); err != nil {
					b.Errorf("%s: %v", w.name, err)
					return
				}
				if err := w.store.Release(b.Context(), tree, req.Owner, req.Grant); err != nil {
					b.Errorf("%s: %v", w.name, err)
					return
				}
			}
		})
	}
	work.Wait()
	return time.Since(start)
}

func median[T time.Duration | float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// medianRatio returns the median of what the ratios of turns are.
func medianRatio(took, own []time.Duration) float64 {
	ratios := make([]float64, len(took))
	for i := range took {
		ratios[i] = float64(took[i]) / float64(own[i])
	}
	return median(ratios)
}
