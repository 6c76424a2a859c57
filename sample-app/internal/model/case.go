package model

import "gorm.io/gorm"

// Case is a test case: a leaf of the tree, in one suite.
type Case struct {
	ID      int64  `json:"id" gorm:"primaryKey"`
	SuiteID int64  `json:"suite_id" pathlock:"parent"`
	Name    string `json:"name" pathlock:"name"`
	Body    string `json:"body"`
	// Path is the suite's path + "/" + Name. It is not stored: the code that loads a case fills it
	// in, and gormplugin does where it gives a case its place.
	Path string `json:"path" pathlock:"path" gorm:"-"`
	// DeletedAt is set while the case is in the recycle bin.
	DeletedAt gorm.DeletedAt `json:"-"`
}
