package fsck

import (
	"context"
)

// A row that is in no tree is given one before all else, and then is what it was not when a check
// found it: a row of that tree, to be mended under its gate, and maybe on a cycle.

// inTreesByNow gives suspects that were in no tree when they were found the one that they have been
// given since.
func (r *repair) inTreesByNow(ctx context.Context, batch []suspect) error {
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

// closed looks for cycles again: a row that was in no tree can close one, with rows that were
// orphans until then, since their parent was in another tree.
func (r *repair) closed(ctx context.Context, suspects lineup) error {
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
