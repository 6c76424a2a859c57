package table

import (
	"sync"
	"time"
)

// MySQL and MariaDB scan a table, and lock all of it, where a range is a large part of it: somebody
// who edits another tree would have to wait. So the statements that are about the range of a
// subtree name the index over tree and path.

// pathIndex is what is known of a table's index over tree and path.
type pathIndex struct {
	mu sync.Mutex
	// name is the index's; "" where there is none, or none is known yet.
	name string
	// asked is when the catalogue was asked for it.
	asked time.Time
	// childrenFirst is set once a foreign key has been found to want rows deleted from the leaves
	// upwards.
	childrenFirst bool
}

// lookAgain is after which time a table that had no index over tree and path is looked at again.
const lookAgain = time.Minute

// indexQuery finds the indexes that begin with two columns, the shortest first.
const indexQuery = `SELECT i.INDEX_NAME FROM information_schema.STATISTICS AS i
	WHERE i.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND i.TABLE_NAME = ?
	GROUP BY i.INDEX_NAME
	HAVING SUM(i.SEQ_IN_INDEX = 1 AND i.COLUMN_NAME = ?) = 1 AND SUM(i.SEQ_IN_INDEX = 2 AND i.COLUMN_NAME = ?) = 1
	ORDER BY COUNT(*), i.INDEX_NAME`

// WantsChildrenFirst reports whether a foreign key has been found to want rows deleted from the
// leaves upwards.
func (x *pathIndex) WantsChildrenFirst() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.childrenFirst
}

// WantChildrenFirst notes that a foreign key does.
func (x *pathIndex) WantChildrenFirst() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.childrenFirst = true
}
