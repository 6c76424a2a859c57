package again

import (
	"context"
	"sync"

	"gorm.io/gorm"
)

// Journal collects what the statements of one try of gormplugin.Transaction were handed.
type Journal struct {
	mu       sync.Mutex
	mementos []*Memento
}

// journalKey is the context key of the journal.
type journalKey struct{}

// WithJournal returns a context that keeps a journal, and the journal.
func WithJournal(ctx context.Context) (context.Context, *Journal) {
	j := new(Journal)
	return context.WithValue(ctx, journalKey{}, j), j
}

// NoteHanded adds what a statement is handed, if there is a journal.
func NoteHanded(stmt *gorm.Statement) {
	j, ok := stmt.Context.Value(journalKey{}).(*Journal)
	if !ok {
		return
	}
	m := Remember(stmt)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mementos = append(j.mementos, m)
}

// Undo puts everything back, the last statement's values first.
func (j *Journal) Undo() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := len(j.mementos) - 1; i >= 0; i-- {
		j.mementos[i].Restore()
	}
	j.mementos = nil
}
