package model

// Plan is one tree of suites, with a name of its own within its project.
type Plan struct {
	ID      int64  `json:"id" gorm:"primaryKey"`
	Project string `json:"project"`
	Name    string `json:"name"`
	// RootID is the plan's root suite. It never changes.
	RootID int64 `json:"root_id"`
}
