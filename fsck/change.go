package fsck

// Change is one value that a repair writes, or would write.
type Change struct {
	// Transaction numbers the transactions of a run, from 1; 0 in a dry run.
	Transaction int    `json:"tx,omitempty"`
	Table       string `json:"table"`
	Tree        Key    `json:"tree"`
	ID          Key    `json:"id"`
	// Insert is set for the columns of a row that is created: a lost+found.
	Insert bool   `json:"insert,omitempty"`
	Column string `json:"column"`
	// Old and New are the values: a Key, a string, Bytes where that is not UTF-8, or nil.
	Old any `json:"old"`
	New any `json:"new"`
	// Why is the problem that the change mends.
	Why Kind `json:"why"`
}

// logged returns a value as a change has it.
func logged(v any) any {
	if text, ok := v.(string); ok {
		return lossless(text)
	}
	return v
}
