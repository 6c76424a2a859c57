package election_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/store/memstore"
)

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

// A leader announces that it moves, and goes on leading.
func ExampleLeadership_Proclaim() {
	ctx := context.Background()
	e := election.New(pathlock.New(memstore.New()), "primary")
	leadership, _ := e.Campaign(ctx, "10.0.0.7:8080")
	term := leadership.Term()

	fmt.Println(leadership.Proclaim(ctx, "10.0.0.7:9090"))
	leader, err := e.Leader(ctx)
	fmt.Println(leader.Value, leader.Term == term, err)
	fmt.Println(leadership.Resign(ctx))
	// Output:
	// <nil>
	// 10.0.0.7:9090 true <nil>
	// <nil>
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
