package fsck

import (
	"context"
)

// step mends the problems of one kind.
type step struct {
	kind Kind
	mend func(*editor, context.Context, Key) error
}

// steps are the kinds of problems that are mended one by one, in their order.
var steps = []step{
	{NoTree, (*editor).mendTree},
	{BadName, (*editor).mendName},
	{Orphan, (*editor).mendOrphan},
	{Cycle, (*editor).mendCycle},
	{BesideRoot, (*editor).mendBeside},
	{Duplicate, (*editor).mendSibling},
	{Lookalike, (*editor).mendSibling},
}

// mend makes the rows' names and parents right, one kind of problem after the other, and then the
// paths.
func (r *repair) mend(ctx context.Context, suspects lineup) error {
	for _, step := range steps {
		s := suspects[step.kind]
		if s == nil {
			continue
		}
		done := int64(0)
		err := s.each(r.opts.BatchRows, func(batch []suspect) error {
			if step.kind != NoTree {
				if err := r.inTreesByNow(ctx, batch); err != nil {
					return err
				}
			}
			err := r.batch(ctx, batch, func(ctx context.Context, e *editor, keys []Key) error {
				for _, k := range keys {
					if err := e.mendRow(ctx, k, step.kind, func() error { return step.mend(e, ctx, k) }); err != nil {
						return err
					}
				}
				return nil
			})
			if done += int64(len(batch)); r.opts.Progress != nil {
				r.opts.Progress("mend: "+string(step.kind), done, s.n)
			}
			return err
		})
		if err == nil && step.kind == NoTree {
			err = r.closed(ctx, suspects)
		}
		if err != nil {
			return err
		}
	}
	return r.paths(ctx)
}

// paths mends the paths of all rows, page by page. What is right follows from names and parents
// alone, so that the order does not matter.
func (r *repair) paths(ctx context.Context) error {
	var wrong []suspect
	flush := func(least int) error {
		for len(wrong) >= least && len(wrong) > 0 {
			n := min(len(wrong), r.opts.BatchRows)
			if err := r.batch(ctx, wrong[:n], func(ctx context.Context, e *editor, keys []Key) error { return e.mendPaths(ctx, keys) }); err != nil {
				return err
			}
			wrong = wrong[:copy(wrong, wrong[n:])]
		}
		return nil
	}
	opts := Options{Tree: r.opts.Tree, Progress: r.phase("mend: paths")}
	_, err := r.reading().scan(ctx, opts, func(p Problem) error {
		if p.Kind != WrongPath && p.Kind != WrongIDPath || len(wrong) > 0 && wrong[len(wrong)-1].key == p.ID {
			return nil
		}
		wrong = append(wrong, suspect{p.Tree, p.ID})
		return flush(r.opts.BatchRows)
	})
	if err != nil {
		return err
	}
	return flush(1)
}
