package fsck

// repair is a repair under way.
type repair struct {
	*Checker
	opts        RepairOptions
	log         changeLog
	transaction int
	summary     RepairSummary
	// dry is set in a dry run: the one transaction that it reads in, with what it would have
	// changed.
	dry   *session
	known *known
	// left has the trees that are left as they are.
	left map[Key]bool
}

// report hands a problem to a function of the options, if it is set.
func (r *repair) report(f func(Problem) error, p Problem) error {
	if f == nil {
		return nil
	}
	return f(p)
}

// phase returns the progress of one phase, or nil if the options have none.
func (r *repair) phase(name string) func(done, total int64) {
	if r.opts.Progress == nil {
		return nil
	}
	return func(done, total int64) { r.opts.Progress(name, done, total) }
}

// reading is what a repair reads in between its transactions: on any connection or, in a dry run,
// in the transaction that there is.
func (r *repair) reading() *session {
	if r.dry != nil {
		return r.dry
	}
	return &session{catalogue: r.catalogue}
}

// skip counts a skip and tells of it.
func (r *repair) skip(skips ...Skip) error {
	for _, s := range skips {
		r.summary.Skipped++
		if r.opts.Skipped == nil {
			continue
		}
		if err := r.opts.Skipped(s); err != nil {
			return err
		}
	}
	return nil
}

// leave leaves a whole tree as it is, for the rest of the repair.
func (r *repair) leave(tree Key, why error) error {
	if len(r.left) >= remembered {
		clear(r.left)
	}
	r.left[tree] = true
	return r.skip(Skip{Tree: tree, Reason: why.Error()})
}

// changed counts changes and tells of them.
func (r *repair) changed(changes []Change) error {
	r.summary.Changes += int64(len(changes))
	if r.opts.Changed == nil {
		return nil
	}
	for _, c := range changes {
		if err := r.opts.Changed(c); err != nil {
			return err
		}
	}
	return nil
}
