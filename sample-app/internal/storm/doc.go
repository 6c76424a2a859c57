// Package storm shows what concurrent changes do to a tree. It runs several instances of the
// backend on one database and one lock store, drives them with renames, inserts, moves, copies and
// deletes that are likely to collide, and then checks every row. It does so three times: without
// any protection, with the assertion in the database alone, and with locks as well.
package storm
