package gormplugin

import (
	"errors"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// FailureOf returns what an error means to whoever sent a request: what [pathlock.FailureOf] does,
// and beside it what GORM and the drivers say of themselves:
//
//   - [gorm.ErrRecordNotFound] is [pathlock.FailureNotFound];
//   - a deadlock, a lock wait that took too long and their kind are [pathlock.FailureLocked];
//   - a database that cannot be reached, or that cannot serve, is [pathlock.FailureDatabase];
//   - a value that the database cannot hold is [pathlock.FailureInvalid].
//
// GORM puts a second error behind a first one in such a way that [errors.Is] does not find the
// first any more. What the database said is found there, too, by its number.
func (p *Plugin) FailureOf(err error) pathlock.Failure {
	if failure := pathlock.FailureOf(err); failure != "" || err == nil {
		return failure
	}
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return pathlock.FailureNotFound
	}
	if p.owner.Dialect == nil {
		return ""
	}
	if failure := p.owner.Dialect.FailureOf(err); failure != "" {
		return failure
	}
	if said := p.owner.Dialect.Said(err.Error()); said != nil {
		return p.owner.Dialect.FailureOf(said)
	}
	return ""
}

// FailureOf implements [pathlock.FailureExplainer].
func (r resolver) FailureOf(err error) pathlock.Failure { return r.plugin.FailureOf(err) }

var _ pathlock.FailureExplainer = resolver{}
