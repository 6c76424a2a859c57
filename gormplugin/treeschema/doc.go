// Package treeschema checks the tables in which package gormplugin keeps trees. It looks for what
// the plugin's promises rest on, and for what makes its statements fast.
//
// A check returns [Finding] values. Each says what is missing, why that matters, and which SQL
// mends it in the database's dialect. Programs call gormplugin.Verify, which fills in the [Table]
// values from the models. This package knows neither GORM nor models.
//
// A table may be made by hand or by GORM: the checks go by what the database does, not by how the
// definition is written. To learn whether a unique index keeps two siblings apart, they have the
// database evaluate the index's generated columns, expressions and predicate for three rows: a live
// one, one without a parent, and a deleted one.
package treeschema
