package gormplugin

import "gorm.io/gorm"

// kind is what is particular to one kind of write: an INSERT, an UPDATE or a DELETE. There is one of
// its own for every statement, which may keep there what it has found out.
type kind interface {
	// survey takes the path locks that can be told before the transaction. It reports whether the
	// statement touches the tree.
	survey(db *gorm.DB, st *statement) (touches bool, err error)
	// write locks, asserts, completes the statement, has it written, and does what follows from it.
	write(w *writing) error
	// explain may put an error that says more in the place of the database's.
	explain(db *gorm.DB, st *statement)
	// end undoes what it has changed of the statement for the time of the write.
	end(db *gorm.DB)
}
