package election_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// statistics is a table with one row a day. A row keeps the term of its writer, and refuses writers
// of earlier terms.
type statistics map[string]struct {
	visits int
	term   uint64
}

// write is INSERT … ON CONFLICT (day) DO UPDATE … WHERE statistics.term <= excluded.term
func (s statistics) write(day string, visits int, term uint64) error {
	if s[day].term > term {
		return fmt.Errorf("term %d is over", term)
	}
	s[day] = struct {
		visits int
		term   uint64
	}{visits, term}
	return nil
}

// count is a cron job: it counts the visits of a day, whenever the clock strikes. All instances of
// the program run it, and only the one that leads does the work.
func count(ctx context.Context, e *election.Election, host string, strikes <-chan string, table statistics) error {
	leadership, err := e.Campaign(ctx, host)
	if err != nil {
		return err
	}
	defer func() { _ = leadership.Resign(ctx) }()
	for {
		select {
		case <-leadership.Context().Done():
			return context.Cause(leadership.Context())
		case day, ok := <-strikes:
			if !ok {
				return nil
			}
			visits := len(day) // a long computation, under leadership.Context()
			if err := leadership.Context().Err(); err != nil {
				return err
			}
			if err := table.write(day, visits, leadership.Term()); err != nil {
				return err
			}
			fmt.Println(host, "has counted", day)
		}
	}
}

// A cron job runs on two instances, and works on one. When that one goes, the other takes over. Its
// late write is refused by its term.
func Example() {
	ctx := context.Background()
	e := election.New(pathlock.New(memstore.New()), "statistics")
	table := statistics{}

	host1, host2 := make(chan string), make(chan string)
	ended := make(chan error)
	go func() { ended <- count(ctx, e, "host-1", host1, table) }()
	host1 <- "Monday"
	late, _ := e.Leader(ctx)

	go func() { ended <- count(ctx, e, "host-2", host2, table) }()
	close(host1) // host-1 is shut down
	fmt.Println(<-ended)
	fmt.Println(late.Value, "has led")
	host2 <- "Monday"
	host2 <- "Tuesday"

	close(host2)
	fmt.Println(<-ended)
	fmt.Println(table.write("Monday", 0, late.Term) != nil)
	// Output:
	// host-1 has counted Monday
	// <nil>
	// host-1 has led
	// host-2 has counted Monday
	// host-2 has counted Tuesday
	// <nil>
	// true
}

// A candidate says by a value where to find it, and leads under a context that ends when somebody
// else may lead.
func ExampleElection_Campaign() {
	ctx := context.Background()
	e := election.New(pathlock.New(memstore.New()), "primary")
	e.Lease = 10 * time.Second // how long the office is vacant after a crash

	leadership, err := e.Campaign(ctx, "10.0.0.7:8080")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(leadership.Value(), "leads", e.Name(), leadership.Context().Err())
	fmt.Println(leadership.Resign(ctx))
	fmt.Println(leadership.Context().Err())
	// Output:
	// 10.0.0.7:8080 leads primary <nil>
	// <nil>
	// context canceled
}

// A client follows whoever leads. It needs no goroutine: the loop waits.
func ExampleElection_Observe() {
	ctx := context.Background()
	e := election.New(pathlock.New(memstore.New()), "primary")
	leadership, _ := e.Campaign(ctx, "10.0.0.7:8080")

	for leader, err := range e.Observe(ctx) {
		switch {
		case err != nil:
			fmt.Println("not known for now:", err)
			continue
		case leader.IsZero():
			fmt.Println("nobody leads")
		default:
			fmt.Println("connect to", leader.Value)
			_ = leadership.Resign(ctx)
			continue
		}
		break
	}
	// Output:
	// connect to 10.0.0.7:8080
	// nobody leads
}
