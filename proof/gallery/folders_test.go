package gallery

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Folder is a row of the tree.
type Folder struct {
	ID        int64
	Drive     string `pathlock:"tree" gorm:"size:20"`
	ParentID  *int64 `pathlock:"parent"`
	Name      string `pathlock:"name" gorm:"size:100"`
	Path      string `pathlock:"path" gorm:"size:500"`
	DeletedAt gorm.DeletedAt
}

// find returns the row at a path, an empty one at the top.
func (s *session) find(at string) (f Folder) {
	if at != "/" {
		testerr.Must(s, s.db.Where("path = ?", at).Take(&f).Error)
	}
	return f
}

// row is the one that belongs at a path.
func (s *session) row(at string) *Folder {
	f := &Folder{Drive: drive.ID(), Name: path.Base(at), Path: at}
	if above := s.find(path.Dir(at)); above.ID != 0 {
		f.ParentID = &above.ID
	}
	return f
}

// build makes the rows of a path that are missing.
func (s *session) build(at string) {
	var n int64
	if testerr.Must(s, s.db.Model(&Folder{}).Where("path = ?", at).Count(&n).Error); n == 0 && at != "/" {
		s.build(path.Dir(at))
		testerr.Must(s, s.db.Create(s.row(at)).Error)
	}
}

// list returns the paths below one, as readers of a path column ask for them.
func (s *session) list(below string) string {
	var paths []string
	testerr.Must(s, s.db.Model(&Folder{}).Where("path LIKE ?", below+"/%").Order("path").Pluck("path", &paths).Error)
	return strings.Join(paths, " ")
}

// write makes a change in the words of a transcript: create AT, delete AT, move AT to BELOW, or
// rename AT to NAME.
func (s *session) write(words []string) string {
	s.planning = true
	err := s.writeBare
	if s.guarded {
		err = s.writeGuarded
	}
	if err := err(words[0], words[1], words[len(words)-1]); err != nil {
		return string(s.plugin.FailureOf(err))
	}
	return "done"
}

// writeGuarded leaves all to the plugin, under the session's lock if it has one.
func (s *session) writeGuarded(verb, at, to string) error {
	db := s.db.WithContext(s.ctx)
	if s.lock != nil {
		db = s.db.WithContext(s.lock.Context())
	}
	switch verb {
	case "create":
		f := s.row(at)
		f.Path = ""
		return db.Create(f).Error
	case "delete":
		return db.Delete(&Folder{}, s.find(at).ID).Error
	case "move":
		return db.Model(&Folder{}).Where("id = ?", s.find(at).ID).Update("parent_id", s.find(to).ID).Error
	default:
		return db.Model(&Folder{}).Where("id = ?", s.find(at).ID).Update("name", to).Error
	}
}

var errRefused = errors.New("refused")

// writeBare checks first and writes then, as programs often do. A move rewrites what is below by
// the old path; a rename forgets to.
func (s *session) writeBare(verb, at, to string) error {
	if verb == "create" {
		f := s.row(at)
		if found := s.db.Where("path = ?", at).Find(&Folder{}); found.RowsAffected > 0 {
			return errRefused
		}
		s.pause()
		return s.db.Create(f).Error
	}
	f, above := s.find(at), Folder{}
	switch verb {
	case "delete":
		var ids []int64
		testerr.Must(s, s.db.Model(&Folder{}).Where("path = ? OR path LIKE ?", at, at+"/%").Pluck("id", &ids).Error)
		s.pause()
		return s.db.Delete(&Folder{}, ids).Error
	case "rename":
		s.pause()
		return s.db.Model(&f).Updates(Folder{Name: to, Path: path.Join(path.Dir(at), to)}).Error
	}
	if above = s.find(to); strings.HasPrefix(to+"/", at+"/") {
		return errRefused
	}
	s.pause()
	return s.db.Transaction(func(tx *gorm.DB) error {
		return errors.Join(tx.Model(&f).Update("parent_id", above.ID).Error,
			tx.Exec("UPDATE folders SET path = ? || substr(path, ?) WHERE path LIKE ?", path.Join(to, f.Name), len(at)+1, at+"%").Error)
	})
}

// tree says what is wrong with the live rows, or which paths they have. It compares each with its
// parent, as the promise is worded.
func (w *world) tree() string {
	var rows []Folder
	testerr.Must(w, w.session("A").db.Unscoped().Order("path").Find(&rows).Error)
	byID := map[int64]Folder{0: {}}
	for _, f := range rows {
		byID[f.ID] = f
	}
	above := func(f Folder) Folder {
		if f.ParentID == nil {
			return Folder{}
		}
		return byID[*f.ParentID]
	}
	var paths, wrong []string
	cycles := 0
	for _, f := range rows {
		if f.DeletedAt.Valid {
			continue
		}
		top, steps := f, 0
		for ; top.ID != 0 && steps <= len(rows); steps++ {
			top = above(top)
		}
		switch parent := above(f); {
		case top.ID != 0:
			cycles++
		case parent.DeletedAt.Valid:
			wrong = append(wrong, f.Path+" is below a deleted row")
		case f.Path != parent.Path+"/"+f.Name:
			wrong = append(wrong, f.Path+" is below "+parent.Path+"/")
		case slices.Contains(paths, f.Path):
			wrong = append(wrong, "two rows are "+f.Path)
		}
		paths = append(paths, f.Path)
	}
	if cycles > 0 {
		wrong = append(wrong, fmt.Sprintf("%d rows are in a cycle", cycles))
	}
	if len(wrong) > 0 {
		return strings.Join(wrong, ", ")
	}
	return strings.Join(paths, " ")
}
