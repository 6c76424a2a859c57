// Package plan says what a write does to the tree: nodes in; places, path locks and refusals out.
//
// [Shape.Insert], [Shape.Update], [Shape.Delete] and [Shape.Copy] each get the rows that a
// statement means and the rows above them, as somebody has read them. They know neither GORM nor
// SQL, and read nothing. So a write is planned twice by the same functions: on plain reads, which
// say what to lock, and under these locks, where both plans have to agree (Differs). [Chains] are
// the rows that have to stay where they are meanwhile.
package plan
