package fsck

import (
	"context"
)

// step repairs the problems of one kind.
type step struct {
	kind Kind
	mend func(*editor, context.Context, Key) error
}

// steps are the kinds of problems that are repaired row by row, in this order.
var steps = []step{
	{NoTree, (*editor).mendNoTree},
	{BadName, (*editor).mendName},
	{Orphan, (*editor).mendOrphan},
	{Cycle, (*editor).mendCycle},
	{BesideRoot, (*editor).mendBeside},
	{Duplicate, (*editor).mendSibling},
	{Lookalike, (*editor).mendSibling},
}

// mend repairs trees, names and parents, one kind of problem after the other, and then the paths.
func (r *repair) mend(ctx context.Context, suspects lineup) error {
	for _, step := range steps {
		s := suspects[step.kind]
		if s == nil {
			continue
		}
		done := int64(0)
		err := s.each(r.opts.BatchRows, func(batch []suspect) error {
			if step.kind != NoTree {
				if err := r.updateTrees(ctx, batch); err != nil {
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
			err = r.findCyclesAgain(ctx, suspects)
		}
		if err != nil {
			return err
		}
	}
	return r.paths(ctx)
}

// paths repairs the paths of all rows, page by page. The right paths follow from names and parents
// alone, so the order does not matter.
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

// updateTrees updates the suspects that had no tree when the check found them: an earlier step may
// have given them one, under whose gate they are repaired.
func (r *repair) updateTrees(ctx context.Context, batch []suspect) error {
	var keys []Key
	for _, s := range batch {
		if s.tree.String() == "" {
			keys = append(keys, s.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	rows, err := r.reading().byKeys(ctx, keys, false)
	if err != nil {
		return err
	}
	trees := make(map[Key]Key, len(rows))
	for _, row := range rows {
		trees[row.key] = row.tree
	}
	for i, s := range batch {
		if tree, ok := trees[s.key]; ok {
			batch[i].tree = tree
		}
	}
	return nil
}

// findCyclesAgain looks for cycles after rows without a tree have got one. Such a row may close a
// cycle with rows that were orphans before, because their parent was in no tree.
func (r *repair) findCyclesAgain(ctx context.Context, suspects lineup) error {
	if s := suspects[Cycle]; s != nil {
		delete(suspects, Cycle)
		if err := s.close(); err != nil {
			return err
		}
	}
	opts := Options{Tree: r.opts.Tree, Progress: r.phase("look for cycles")}
	_, err := r.reading().scan(ctx, opts, func(p Problem) error {
		if p.Kind != Cycle {
			return nil
		}
		return suspects.add(p)
	})
	return err
}
