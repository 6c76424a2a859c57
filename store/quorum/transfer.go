package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Transfer implements [pathlock.Store]. It names the grants that a majority has
// transferred.
//
// A transfer to another owner begins with the first member that serves and has something of From,
// so that of two at once one comes first everywhere. A fence is that of the grant unless the member
// with the greatest one is silent. Then it is less, and still greater than those of all grants that
// had been made before.
func (s *Store) Transfer(ctx context.Context, t pathlock.Transfer) (pathlock.Transferred, error) {
	if err := t.Validate(); err != nil {
		return pathlock.Transferred{}, fmt.Errorf("quorum: %w", err)
	}
	if err := s.begin(); err != nil {
		return pathlock.Transferred{}, err
	}
	defer s.running.Done()
	asked := t
	asked.Lease = s.config.drifted(min(t.Lease, pathlock.Forever))
	what := fmt.Sprintf("transfer in %s from owner %s", t.Tree, t.From.Short())
	p := poll[pathlock.Transferred]{store: s, operation: what}
	transfer := func(ctx context.Context, m *member) (pathlock.Transferred, error) {
		return m.store.Transfer(ctx, asked)
	}
	var got answers[pathlock.Transferred]
	if t.From == t.To {
		got = p.ask(ctx, transfer)
	} else {
		got = s.inOrder(ctx, t, p, transfer)
	}
	moved := got.count(released)
	lost := got.count(isLost)
	if moved >= s.majority {
		s.settleTransfer(t, got)
		return s.merge(got), nil
	}
	for _, a := range got.all {
		if errors.Is(a.err, pathlock.ErrInvalidRequest) {
			return pathlock.Transferred{}, fmt.Errorf("quorum: %w", a.err)
		}
	}
	if lost < s.majority {
		return pathlock.Transferred{}, got.unavailable(ctx)
	}
	if t.From != t.To {
		// A few members had something that a majority has lost: nobody is to have it.
		for _, a := range got.all {
			if a.err == nil {
				a.member.giveBackOrLater(key{tree: t.Tree, owner: t.To}, 0)
			}
		}
	}
	return pathlock.Transferred{}, fmt.Errorf("quorum: %s: %w: the owner holds nothing any more", what, pathlock.ErrLost)
}

// inOrder has one member after the other transfer until one does, and then the rest at once. Where
// one has nothing of From, another transfer may be under way, or it has not been there when the
// grants were made: then a majority has them, for longer than a transfer takes.
func (s *Store) inOrder(ctx context.Context, t pathlock.Transfer, p poll[pathlock.Transferred], transfer question[pathlock.Transferred]) answers[pathlock.Transferred] {
	first := make(map[*member]answer[pathlock.Transferred])
	for _, m := range s.available() {
		one := p
		one.only = m
		a := one.ask(ctx, transfer).all[m.index]
		if first[m] = a; a.err == nil {
			break
		}
		if errors.Is(a.err, pathlock.ErrLost) {
			if seen, stays := s.stays(ctx, t, p.operation); !stays {
				return seen
			}
		}
	}
	return p.ask(ctx, func(ctx context.Context, m *member) (pathlock.Transferred, error) {
		if a, asked := first[m]; asked {
			return a.value, a.err
		}
		return transfer(ctx, m)
	})
}

// stays reports whether a majority has something of From for longer than a transfer takes. If not,
// it returns what the members answered, with ErrLost for those that have nothing.
func (s *Store) stays(ctx context.Context, t pathlock.Transfer, operation string) (answers[pathlock.Transferred], bool) {
	// A renewal that changes nothing tells who has something.
	p := poll[pathlock.Transferred]{store: s, operation: operation}
	look := func() answers[pathlock.Transferred] {
		return p.ask(ctx, func(ctx context.Context, m *member) (pathlock.Transferred, error) {
			lost, err := m.store.Renew(ctx, t.Tree, []pathlock.Lease{{Owner: t.From, For: 1}})
			if len(lost) > 0 {
				err = fmt.Errorf("%w: owner %s has nothing here", pathlock.ErrLost, t.From.Short())
			}
			return pathlock.Transferred{}, err
		})
	}
	seen := look()
	if seen.count(released) >= s.majority {
		pause := time.NewTimer(s.config.timeout / 4)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
		case <-s.life.Done():
		}
		seen = look()
	}
	held := seen.count(released)
	for i := range seen.all {
		if seen.all[i].err == nil {
			seen.all[i].err = errHeld
		}
	}
	return seen, held >= s.majority
}

func isLost(err error) bool { return errors.Is(err, pathlock.ErrLost) }

// errHeld is why a member is not asked to transfer what others have lost.
var errHeld = errors.New("it has something still")

// settleTransfer has the members that have not heard of a transfer give back what From has there.
func (s *Store) settleTransfer(t pathlock.Transfer, got answers[pathlock.Transferred]) {
	if t.From == t.To {
		return
	}
	for _, a := range got.all {
		if isAnswer(a.err) {
			continue
		}
		for _, g := range s.merge(got).Grants {
			a.member.giveBackLater(key{t.Tree, t.From, g.ID}, 0)
		}
	}
}

// merge returns what a majority has transferred.
func (s *Store) merge(got answers[pathlock.Transferred]) pathlock.Transferred {
	type grant struct {
		pathlock.TransferredGrant
		members int
	}
	grants := make(map[pathlock.GrantID]grant)
	var left []time.Duration
	for _, a := range got.all {
		if a.err != nil {
			continue
		}
		left = append(left, a.value.Left-time.Since(a.at))
		for _, g := range a.value.Grants {
			g.Fence = a.member.fenceOf(g.Fence)
			known := grants[g.ID]
			if known.members > 0 {
				g.Fence, g.Apart = max(g.Fence, known.Fence), g.Apart || known.Apart
			}
			grants[g.ID] = grant{g, known.members + 1}
		}
	}
	slices.Sort(left)
	out := pathlock.Transferred{Left: s.config.undrifted(left[len(left)-s.majority])}
	for _, g := range grants {
		if g.members >= s.majority {
			out.Grants = append(out.Grants, g.TransferredGrant)
		}
	}
	slices.SortFunc(out.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return out
}
