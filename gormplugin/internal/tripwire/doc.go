// Package tripwire refuses raw SQL that would go past the plugin: that writes to a guarded table,
// or ends a transaction which was relied upon. [Allow] lets the former pass.
package tripwire
