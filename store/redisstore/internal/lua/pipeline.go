package lua

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Pipeline sends together what more goroutines than a few have to send at once to one server, in
// the way of a group commit: while as many commands, or batches of them, are under way as are
// allowed to be, others gather; whoever has waited longest sends them all when there is room. Until
// then every goroutine sends its own command at once. A server that is kept busy serves about half
// as many again that way, as most of its time goes into reading and writing.
//
// Renewals and releases have a lane of their own, so that they never wait for acquisitions. Who
// waits for room heeds its context, and is then not sent at all.
//
// It is not for clusters, where a node that is down would hold up what is for others. The client's
// own AutoPipeliner serves for neither: what it has queued heeds no context, has one order for all,
// and is sent although nobody waits for it any more; BenchmarkPipeline compares the speed.
type Pipeline struct {
	client *redis.Client
	// timeout is how long a batch may take whose commands have no deadline.
	timeout time.Duration
	// limit is how many commands and batches of a lane are under way at most.
	limit int

	mu    sync.Mutex
	lanes [lanes]lineup
}

// lineup is one lane of a pipeline.
type lineup struct {
	// underway is the number of commands and batches that have been sent.
	underway int
	waiting  []*queuedCommand
}

// queuedCommand is a command that waits for room.
type queuedCommand struct {
	ctx context.Context
	cmd redis.Cmder
	// gone is set when the command is not to be sent any more.
	gone bool
	// taken is set when the command is in a batch. Its goroutine has a turn then: either the
	// command has been carried out, which nil says, or this is what the goroutine is to send.
	taken bool
	turn  chan []*queuedCommand
}

const (
	// UnderwayLimit is how many commands and batches of a lane are under way at most. The fewer,
	// the more there is to gather; the more, the less time passes until the next may be sent.
	UnderwayLimit = 8
	// batchLimit is how many commands a batch has at most.
	batchLimit = 64
)

// NewPipeline returns a pipeline that leaves each lane half of the client's connections.
func NewPipeline(client *redis.Client, timeout time.Duration) *Pipeline {
	limit := min(UnderwayLimit, max(1, client.Options().PoolSize/int(lanes)))
	return &Pipeline{client: client, timeout: timeout, limit: limit}
}

// Process sends a command, alone or with others, and waits for its reply, or for room until ctx
// ends.
//
// After an error the command is not to be looked at, since it may be in a batch that is under way.
func (p *Pipeline) Process(ctx context.Context, lane Lane, cmd redis.Cmder) error {
	q := p.enter(ctx, lane, cmd)
	if q == nil {
		err := p.client.Process(ctx, cmd)
		p.next(lane)
		return err
	}
	var batch []*queuedCommand
	select {
	case batch = <-q.turn:
	case <-ctx.Done():
		if p.leave(q) {
			return ctx.Err()
		}
		// The batch is bounded by the deadlines in it. What became of the command has to be waited
		// for, so that what takes it back does not overtake it.
		batch = <-q.turn
	}
	if batch != nil {
		p.send(batch)
		p.next(lane)
	}
	return cmd.Err()
}

// Load returns how many commands and batches of a lane are under way, and how many commands wait.
func (p *Pipeline) Load(lane Lane) (underway, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes[lane].underway, len(p.lanes[lane].waiting)
}

// enter takes room, or returns a place among those who wait for it.
func (p *Pipeline) enter(ctx context.Context, lane Lane, cmd redis.Cmder) *queuedCommand {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := &p.lanes[lane]
	if line.underway < p.limit {
		line.underway++
		return nil
	}
	q := &queuedCommand{ctx: ctx, cmd: cmd, turn: make(chan []*queuedCommand, 1)}
	line.waiting = append(line.waiting, q)
	return q
}

// leave gives up a place, and reports whether that is in time.
func (p *Pipeline) leave(q *queuedCommand) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.gone = !q.taken
	return q.gone
}

// next hands the room that a command or a batch has left to those who wait.
func (p *Pipeline) next(lane Lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := &p.lanes[lane]
	var batch []*queuedCommand
	n := 0
	for ; n < len(line.waiting) && len(batch) < batchLimit; n++ {
		if q := line.waiting[n]; !q.gone && q.ctx.Err() == nil {
			q.taken = true
			batch = append(batch, q)
		}
	}
	clear(line.waiting[:n])
	line.waiting = line.waiting[n:]
	if len(batch) == 0 {
		line.underway--
		return
	}
	batch[0].turn <- batch
}

// send carries out a batch, the first of which is the caller's own, and tells the others. It has as
// long as the last of them: each caller leaves when its own time is up.
func (p *Pipeline) send(batch []*queuedCommand) {
	if len(batch) == 1 {
		_ = p.client.Process(batch[0].ctx, batch[0].cmd) // the error is the command's, too
		return
	}
	var latest time.Time
	for _, q := range batch {
		deadline, ok := q.ctx.Deadline()
		if !ok {
			deadline = time.Now().Add(p.timeout)
		}
		if deadline.After(latest) {
			latest = deadline
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), latest)
	defer cancel()
	pipe := p.client.Pipeline()
	for _, q := range batch {
		_ = pipe.Process(ctx, q.cmd)
	}
	_, _ = pipe.Exec(ctx)
	for _, q := range batch[1:] {
		q.turn <- nil
	}
}
