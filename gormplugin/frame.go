package gormplugin

// frame is what any statement on a guarded table runs in.
type frame struct {
	*keeper
	*catalogue
	// wire is what raw SQL goes by.
	wire *wire
	// maxTries is how often a statement is tried that runs in a transaction of its own.
	maxTries int
}
