package statement

import "gorm.io/gorm"

// Kind is what is particular to one kind of write: an INSERT, an UPDATE or a DELETE. There is one
// of its own for every statement, which may keep there what it has found out.
type Kind interface {
	// Survey takes the path locks that can be told before the transaction. It reports whether the
	// statement touches the tree.
	Survey(db *gorm.DB, st *Statement) (touches bool, err error)
	// Write locks, asserts, completes the statement, has it written, and does what follows from it.
	Write(w *Writing) error
	// Explain may put an error that says more in the place of the database's.
	Explain(db *gorm.DB, st *Statement)
	// End undoes what it has changed of the statement for the time of the write.
	End(db *gorm.DB)
}
