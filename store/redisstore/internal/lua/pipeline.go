package lua

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Pipeline sends commands to one server, and sends them together when many goroutines have one to
// send, in the way of a group commit. A few commands or batches may be under way at once; further
// commands gather until there is room, and then the goroutine that has waited longest sends them
// all. A busy server serves about half as many commands again that way, since most of its time goes
// into reading and writing.
//
// Each [Lane] has room of its own, so that renewals and releases never wait for acquisitions. A
// command whose context ends while it waits for room is not sent at all.
//
// A pipeline is not for clusters, where a node that is down would hold up what is for others. The
// client's own AutoPipeliner would not do: a command that it has queued heeds no context, shares
// one order with all others, and is sent although nobody waits for it any more. BenchmarkPipeline
// compares the speed.
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
	// gone is set when the command is not to be sent.
	gone bool
	// taken is set when the command is in a batch. Its goroutine then gets a turn: nil if the
	// command has been carried out, or the batch that the goroutine is to send.
	taken bool
	turn  chan []*queuedCommand
}

const (
	// UnderwayLimit is how many commands and batches of a lane are under way at most. With fewer,
	// more commands gather; with more, a command waits less. It is exported for tests.
	UnderwayLimit = 8
	// batchLimit is how many commands a batch has at most.
	batchLimit = 64
)

// NewPipeline returns a pipeline that leaves each lane half of the client's connections.
func NewPipeline(client *redis.Client, timeout time.Duration) *Pipeline {
	limit := min(UnderwayLimit, max(1, client.Options().PoolSize/int(lanes)))
	return &Pipeline{client: client, timeout: timeout, limit: limit}
}

// Process sends a command, alone or with others, and waits for its reply. If ctx ends before there
// is room, the command is not sent.
//
// After an error, do not read cmd: a batch may still be writing to it.
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
		// The batch is bounded by the deadlines in it. This goroutine waits for the batch, so that
		// a withdrawal of the command cannot overtake it.
		batch = <-q.turn
	}
	if batch != nil {
		p.send(batch)
		p.next(lane)
	}
	return cmd.Err()
}

// Load returns how many commands and batches of a lane are under way, and how many commands wait.
// It is for tests.
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

// leave gives up a place, and reports whether it was in time.
func (p *Pipeline) leave(q *queuedCommand) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.gone = !q.taken
	return q.gone
}

// next hands the room of a command or a batch that has ended to those who wait.
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

// send carries out a batch, of which the first command is the caller's own, and wakes the others.
// The batch has as long as its latest deadline; each goroutine leaves at its own.
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
