package txn

import "context"

// Some errors end a transaction on the server, or may do so by a setting: whatever is run
// afterwards would be committed by itself, past the caller's ROLLBACK. Which errors these are
// differs between versions, settings and plugins of a server. So the server is asked, after every
// error but those that are known to undo nothing but their statement.

// hasEnded reports whether the transaction, in which a statement has failed, is over on the server,
// or may be.
func (t *Transaction) hasEnded(err error) bool {
	probe := t.owner.Dialect.Probe
	if probe == nil || t.Failed() != nil || probe.Harmless(err) {
		return false
	}
	open, err := probe.Open(context.WithoutCancel(t.ctx), t.Tx)
	return err != nil || !open
}
