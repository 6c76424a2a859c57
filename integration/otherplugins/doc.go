// Package otherplugins tests the plugin beside other plugins, and what else programs use with GORM.
// It is a package of its own, as these link drivers that no other test needs.
package otherplugins
