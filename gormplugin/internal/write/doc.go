// Package write is what happens on each write: INSERT, upsert, UPDATE and DELETE of rows of guarded
// tables.
//
// # The story of an UPDATE
//
// UPDATE suites SET name = 'b' WHERE id = 7 renames a row, so that everything below it gets another
// path:
//
//	Engine.begin
//	  1  survey           a plain read: the rows that are hit, and all rows above     updating.Survey
//	  2  path locks       X on the old place and on the new name slot                     acquire
//	  3  BEGIN            no row lock is ever held while waiting for a path lock
//	the hooks of the model, and other plugins' callbacks, run
//	Writer, in the place of gorm:update                                              updating.Write
//	  4  row locks        what is above for sharing, then the rows for the change
//	  5  comparison       the change is worked out again: every place is the planned one, and every
//	                      path is the parent's and the row's own name; otherwise steps 1, 2, 4 and 5
//	                      are done once more on locking reads                       planAndAssert
//	  6  top              where a row comes to the top of the tree, what is there
//	                      must allow it                                                  guardTop
//	  7  room             no path below may become too long or too deep              checkSubtrees
//	  8  UPDATE           GORM writes the statement, pinned to the locked rows               writeParts
//	  9  top, again       on MySQL and MariaDB, now that others see the row                  recheckTop
//	 10  rewrite          one UPDATE over the range of the path index gives all that lies below its
//	                      new path                                                   rewriteMoved
//	Engine.end
//	 11  COMMIT           of the statement's own transaction; in one of the caller's, by the caller
//	 12  release          of the path locks, when the transaction has really ended   package txn
//
// A statement that leaves all rows where they are takes no lock. One within a transaction of the
// caller's begins inside it, at updating.Write, and waits only briefly for its path locks. If it
// fails after step 8, the transaction ends, even if the caller ignores the error: see settled.
//
// # What is where
//
// begin and end are in statement.go, the path locks in pathlocks.go, the assertion, with its row
// locks and its second attempt on locking reads, in assertion.go, the room below in pathlimits.go,
// the rewrite in rewrite.go, the next try of a statement that lost to another one in
// statementretry.go, the refusal of raw SQL in rawsql.go. A write is a [statement]. Each kind of it
// has a [verb]: insert.go, update.go and delete.go. The rows that an UPDATE or a DELETE means are
// found in targets.go, and what it does to the tree is worked out in effect.go. The top of a tree,
// where there is no parent to lock, has rules of its own: top.go. A copy is no statement of GORM's:
// copy.go. assignment.go sees that an UPDATE restores or deletes rows, and package plan plans it
// (update.go, effect.go).
//
// The SQL of the locking reads is in package table (read.go), and what each database calls them in
// internal/dialect.
package write
