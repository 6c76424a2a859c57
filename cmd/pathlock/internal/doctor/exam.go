package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Options say how to examine.
type Options struct {
	// Patience is how long a server may take to answer one question, by default five seconds.
	Patience time.Duration
	// Stores are further options for opening a lock store.
	Stores []anystore.Option
	// Nameless says that the programs' statements have no names on the server.
	Nameless bool
}

const defaultPatience = 5 * time.Second

// exam is an examination under way.
type exam struct {
	Options
	findings []Finding
	// members is how many members the quorum has that is examined, 0 for any other store.
	members int
}

func newExam(opts Options) *exam {
	if opts.Patience <= 0 {
		opts.Patience = defaultPatience
	}
	return &exam{Options: opts}
}

// found adds a finding.
func (e *exam) found(level Level, about, check, is, means, change string) {
	e.findings = append(e.findings, Finding{Level: level, About: about, Check: check, Is: is, Means: means, Change: change})
}

// fine adds that something is as it should be.
func (e *exam) fine(about, check, format string, args ...any) {
	e.found(Fine, about, check, fmt.Sprintf(format, args...), "", "")
}

// unknown adds that something could not be looked at. The error is a server's.
func (e *exam) unknown(about, check string, err error, change string) {
	e.found(Unknown, about, check, fmt.Sprintf("not looked at: %v", err), "whether it is right is not known", change)
}

// ask calls f with a context that ends after the server's time.
func (e *exam) ask(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, e.Patience, fmt.Errorf("no answer within %v", e.Patience))
	defer cancel()
	err := f(ctx)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(err, context.Cause(ctx))
	}
	return err
}

// unanswered adds that a server does not serve.
func (e *exam) unanswered(about string, err error) {
	const change = "see that the server runs and takes more clients, and that the URL, its TLS, the user and the password are right"
	e.found(Problem, about, answerCheck, fmt.Sprintf("it does not serve: %v", err), "the lock store "+anystore.Trouble(err)+": nothing is granted", change)
}

// unreachable reports whether an error says that a server was not reached, and not that it refused.
func unreachable(err error) bool { return errors.Is(err, pathlock.ErrUnavailable) }
