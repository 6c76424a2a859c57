// Package tripwire refuses raw SQL that would bypass the plugin: SQL that writes to a guarded
// table, or that ends a transaction on which the plugin relies. [Allow] lets the former pass.
package tripwire
