package gormplugin

// settleParent gives a new row that has no parent the one value for that.
func (row *arrival) settleParent() error {
	if row.Parent != nil {
		return nil
	}
	return row.Set(row.Table.Parent, row.Table.NoParent())
}
