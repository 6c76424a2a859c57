// Package rawsql says of hand-written SQL whether it may write a guarded table, and whether it ends
// the transaction that it runs in. It knows words, quotes and comments, and no grammar: what names
// a guarded table has to be one statement that plainly reads, or one that defines, and all else
// counts as a write.
//
// What the text does not show is not seen: functions that a SELECT calls, procedures, triggers,
// views, prepared statements by their name, and SQL that the database puts together itself.
package rawsql
