package fsck

// repair is a repair under way.
type repair struct {
	*Checker
	opts        RepairOptions
	log         changeLog
	transaction int
	summary     RepairSummary
	// dry is the one session of a dry run, with the changes that it would have made. It is nil in a
	// repair.
	dry   *session
	known *known
	// skippedTrees are the trees that the repair leaves as they are.
	skippedTrees map[Key]bool
}

// phase returns the progress function of one phase, nil if the options have none.
func (r *repair) phase(name string) func(done, total int64) {
	if r.opts.Progress == nil {
		return nil
	}
	return func(done, total int64) { r.opts.Progress(name, done, total) }
}

// reading returns the session in which a repair reads between its transactions: on any connection
// or, in a dry run, in its one transaction.
func (r *repair) reading() *session {
	if r.dry != nil {
		return r.dry
	}
	return &session{catalogue: r.catalogue}
}

// skip counts and reports skips.
func (r *repair) skip(skips ...Skip) error {
	for _, s := range skips {
		r.summary.Skipped++
		if err := r.opts.Skipped(s); err != nil {
			return err
		}
	}
	return nil
}

// skipTree skips a whole tree for the rest of the repair.
func (r *repair) skipTree(tree Key, why error) error {
	if len(r.skippedTrees) >= remembered {
		clear(r.skippedTrees)
	}
	r.skippedTrees[tree] = true
	return r.skip(Skip{Tree: tree, Reason: why.Error()})
}

// changed counts and reports changes.
func (r *repair) changed(changes []Change) error {
	r.summary.Changes += int64(len(changes))
	for _, c := range changes {
		if err := r.opts.Changed(c); err != nil {
			return err
		}
	}
	return nil
}

// known is what a repair knows of the database's state. The root rows and the lost+founds hold
// while a transaction has them locked. A rollback makes the repair forget everything but
// noLostFound.
type known struct {
	roots      map[Key]*row
	lostFounds map[Key]Key
	numbers    map[sibling]int
	// noLostFound says why no lost+found can be created in a tree. A rollback does not change that.
	noLostFound map[Key]error
}

func newKnown() *known {
	k := &known{noLostFound: make(map[Key]error)}
	k.forget()
	return k
}

// forget drops everything that a rolled-back transaction may have changed.
func (k *known) forget() {
	k.roots, k.lostFounds, k.numbers = make(map[Key]*row), make(map[Key]Key), make(map[sibling]int)
}

// remembered is the most entries of each kind that a repair remembers.
const remembered = 10_000

// number remembers the last number that a name got.
func (k *known) number(slot sibling, n int) {
	if len(k.numbers) >= remembered {
		clear(k.numbers)
	}
	k.numbers[slot] = n
}
