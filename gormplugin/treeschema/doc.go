// Package treeschema checks the tables that package gormplugin keeps trees in: whether the database
// has what the plugin's promises rest on, and what makes its statements fast.
//
// What it finds are [Finding] values. Each says what is missing, why that matters, and the SQL that
// mends it in the dialect at hand. Programs call gormplugin.Verify, which fills in the [Table]
// values from the models; this package knows neither GORM nor models.
//
// Tables may be made by hand or by GORM: what counts is what the database does, not how the
// definition is spelt. Whether a unique index keeps two siblings apart is found out by having the
// database evaluate the index's generated columns, expressions and predicate for a live row, a row
// without a parent and a deleted one.
package treeschema
