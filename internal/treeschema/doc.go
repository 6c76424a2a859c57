// Package treeschema checks the tables in which package gormplugin keeps trees, the server and the
// session, for what the plugin's promises rest on.
//
// A check returns [Finding] values. Each says what is missing, why that matters, and which SQL
// mends it, or what to do where one plain statement does not. Programs call gormplugin.Verify,
// which fills in the [Table] values from the models. This package knows neither GORM nor models.
//
// It reads one database's catalogue by a query or two, which end in the same values for all, and
// judges those. It runs nothing else: a unique index is judged by its columns, and by those
// conditions and expressions that it knows.
package treeschema
