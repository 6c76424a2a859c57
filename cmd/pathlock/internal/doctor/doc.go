// Package doctor looks for settings of lock stores and databases with which locks are lost, waited
// for in vain, or not granted at all.
//
// [Locks] examines a lock store, and [Database] a database with trees. Both ask the servers, with
// the rights of the user of the URL, and change nothing that anybody else uses. A report consists
// of a [Finding] for each thing looked at. It says what is, what that means and what to change.
// What could not be looked at is a finding, too: [Unknown].
//
// What a setting means is decided in functions of their own, that get what a server has said. So
// each of them is tested on a real server with that setting.
package doctor
