package plans

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// MaxImport is how many suites and cases one import names at most.
const MaxImport = 1000

// Import names suites and cases by their paths below the root suite, such as "dir1/dir2".
type Import struct {
	Suites []string
	Cases  []ImportedCase
}

// ImportedCase is a case, and the path that names it.
type ImportedCase struct {
	Path string `json:"path"`
	Body string `json:"body"`
}

// Imported counts what an import has created.
type Imported struct {
	Suites int `json:"suites"`
	Cases  int `json:"cases"`
}

// ImportNames creates the suites and cases that the plan lacks, and the suites above them. Its
// transactions are short, one for each depth and batch, and it takes locks for each of them only.
// After an error, what is created stays: the same import continues where it ended. That includes
// [*NameTakenError], when others have created the same name at the same moment.
func (s *Service) ImportNames(ctx context.Context, planID int64, names Import) (Imported, error) {
	var made Imported
	suites, err := names.check()
	if err != nil {
		return made, err
	}
	plan, err := s.Plan(ctx, planID)
	if err != nil {
		return made, err
	}
	ids := map[string]int64{"": plan.RootID}
	for len(suites) > 0 {
		end := slices.IndexFunc(suites, func(path string) bool { return depth(path) != depth(suites[0]) })
		if end < 0 || end > batch {
			end = min(len(suites), batch)
		}
		added, err := s.importSuites(ctx, plan.ID, suites[:end], ids)
		if err != nil {
			return made, err
		}
		made.Suites += added
		suites = suites[end:]
	}
	err = s.importCases(ctx, names.Cases, ids, &made)
	return made, err
}

// importSuites creates those suites of one depth that the plan lacks. It records the ids of all.
func (s *Service) importSuites(ctx context.Context, planID int64, paths []string, ids map[string]int64) (made int, err error) {
	var found, rows []Suite
	if err := s.db.Read.WithContext(ctx).Select("id", "path").Where("plan_id = ? AND path IN ?", planID, paths).Find(&found).Error; err != nil {
		return 0, err
	}
	for _, suite := range found {
		ids[suite.Path] = suite.ID
	}
	var missing []string
	for _, path := range paths {
		if ids[path] == 0 {
			parent, name := split(path)
			missing, rows = append(missing, path), append(rows, Suite{PlanID: planID, ParentID: new(ids[parent]), Name: name, Version: 1})
		}
	}
	if len(rows) == 0 {
		return 0, nil
	}
	err = s.write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&rows).Error; err != nil {
			return err
		}
		return Changed(tx, planID)
	})
	for i, path := range missing { // not their own paths: a suite above them may have been renamed
		ids[path] = rows[i].ID
	}
	return len(rows), err
}

// importCases creates the cases that their suites lack.
func (s *Service) importCases(ctx context.Context, cases []ImportedCase, ids map[string]int64, made *Imported) error {
	type slot struct {
		suite int64
		name  string
	}
	for some := range slices.Chunk(cases, batch) {
		taken := map[slot]bool{}
		var suites []int64
		for _, c := range some {
			suite, _ := split("/" + c.Path)
			suites = append(suites, ids[suite])
		}
		slices.Sort(suites)
		var found []Case
		if err := s.db.Read.WithContext(ctx).Select("suite_id", "name").Where("suite_id IN ?", slices.Compact(suites)).Find(&found).Error; err != nil {
			return err
		}
		for _, c := range found {
			taken[slot{c.SuiteID, c.Name}] = true
		}
		var rows []Case
		for _, c := range some {
			suite, name := split("/" + c.Path)
			if at := (slot{ids[suite], name}); !taken[at] {
				taken[at] = true
				rows = append(rows, Case{SuiteID: at.suite, Name: name, Body: c.Body})
			}
		}
		if len(rows) == 0 {
			continue
		}
		if err := s.write(ctx, func(tx *gorm.DB) error { return tx.Create(&rows).Error }); err != nil {
			return err
		}
		made.Cases += len(rows)
	}
	return nil
}

// check refuses invalid names. It returns the paths of all suites as the column has them, parents
// before their children.
func (i Import) check() ([]string, error) {
	if n := len(i.Suites) + len(i.Cases); n > MaxImport {
		return nil, &InvalidError{"suites", fmt.Sprintf("and cases are %d, at most %d are allowed", n, MaxImport)}
	}
	all := map[string]bool{}
	// add adds the suites on the way along a path, whose last names are those of cases.
	add := func(field, path string, cases int) error {
		names := strings.Split(path, "/")
		for _, name := range names {
			if err := CheckName(name); err != nil {
				return &InvalidError{field, fmt.Sprintf("has the path %.300q, of which the name %.300q %s", path, name, err)}
			}
		}
		if names = names[:len(names)-cases]; len(names) > MaxDepth {
			return TooDeep(field, len(names))
		}
		for n := range names {
			all["/"+strings.Join(names[:n+1], "/")] = true
		}
		return nil
	}
	for _, path := range i.Suites {
		if err := add("suites", path, 0); err != nil {
			return nil, err
		}
	}
	for _, c := range i.Cases {
		if err := add("cases", c.Path, 1); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b))
	}), nil
}

// depth returns how many names a path has.
func depth(path string) int { return strings.Count(path, "/") }

// split returns the path of the parent and the name.
func split(path string) (parent, name string) {
	at := strings.LastIndexByte(path, '/')
	return path[:at], path[at+1:]
}
