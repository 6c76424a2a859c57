package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// pipeline sends together what more goroutines than a few have to send at once to one server, in the way of a
// group commit: while as many commands, or batches of them, are under way as are allowed to be, others gather; whoever
// has waited longest sends them all when there is room. Until then every goroutine sends its own
// command at once. A server that is kept busy serves about half as many again that way, as most of its time goes into reading and writing.
//
// It is not for clusters, where a node that is down would hold up what is for others.
type pipeline struct {
	client *redis.Client
	// timeout is how long most commands may take.
	timeout time.Duration

	mu sync.Mutex
	// underway is the number of commands and batches that have been sent.
	underway int
	waiting  []*queuedCommand
}

// queuedCommand is a command that waits for room.
type queuedCommand struct {
	cmd redis.Cmder
	// latest is until when the command is to be carried out.
	latest time.Time
	// turn is told either that the command has been carried out, with nil, or what its goroutine is to send.
	turn chan []*queuedCommand
}

const (
	// underwayLimit is how many commands and batches are under way at most. The fewer, the more there is to gather; the more,
	// the less time passes until the next may be sent.
	underwayLimit = 8
	// batchLimit is how many commands a batch has at most.
	batchLimit = 64
)

// process sends a command, alone or with others, and waits for its reply. Those who are in one batch have one
// fate: they wait until the last of their deadlines. So a command that has less time than most is sent alone.
func (p *pipeline) process(ctx context.Context, cmd redis.Cmder) error {
	latest, ok := ctx.Deadline()
	alone := !ok || time.Until(latest) < p.timeout/2
	p.mu.Lock()
	if alone || p.underway < underwayLimit {
		p.underway++
		p.mu.Unlock()
		err := p.client.Process(ctx, cmd)
		p.next()
		return err
	}
	q := &queuedCommand{cmd: cmd, latest: latest, turn: make(chan []*queuedCommand, 1)}
	p.waiting = append(p.waiting, q)
	p.mu.Unlock()
	if batch := <-q.turn; batch != nil {
		p.send(batch)
		p.next()
	}
	return cmd.Err()
}

// next hands the room that a batch has left to those who wait.
func (p *pipeline) next() {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.waiting), batchLimit)
	if n == 0 || p.underway > underwayLimit {
		p.underway--
		return
	}
	batch := p.waiting[:n:n]
	p.waiting = p.waiting[n:]
	batch[0].turn <- batch
}

// send carries out a batch, the first of which is the caller's own, and tells the others.
func (p *pipeline) send(batch []*queuedCommand) {
	latest := batch[0].latest
	for _, q := range batch[1:] {
		if q.latest.After(latest) {
			latest = q.latest
		}
	}
	ctx := until{context.Background(), latest}
	if len(batch) == 1 {
		_ = p.client.Process(ctx, batch[0].cmd) // the error is the command's, too
		return
	}
	pipe := p.client.Pipeline()
	for _, q := range batch {
		_ = pipe.Process(ctx, q.cmd)
	}
	_, _ = pipe.Exec(ctx)
	for _, q := range batch[1:] {
		q.turn <- nil
	}
}
