// Package gormplugintest checks that [gormplugin] keeps its promises on a database. Every database
// that the plugin supports passes [RunStatements], [RunTransactions], [RunRaces] and [RunSchema].
package gormplugintest
