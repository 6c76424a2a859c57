package gallery

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/fsck"
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

// tree says what fsck finds wrong, or which paths there are.
func (w *world) tree() string {
	s := w.session("A")
	pool, err := s.db.DB()
	testerr.Must(w, err)
	checker, err := fsck.New(s.ctx, pool, fsck.SQLite, fsck.Table{Table: "folders", Key: "id", Tree: "drive", Parent: "parent_id", Name: "name", Path: "path", Deleted: "deleted_at"})
	testerr.Must(w, err)
	var wrong, paths []string
	testerr.Must(w, testerr.Of(checker.Check(s.ctx, fsck.Options{}, func(p fsck.Problem) error {
		wrong = append(wrong, fmt.Sprint(p.Kind, " ", *p.Is))
		return nil
	})))
	testerr.Must(w, s.db.Model(&Folder{}).Order("path").Pluck("path", &paths).Error)
	if len(wrong) > 0 {
		return strings.Join(wrong, ", ")
	}
	return strings.Join(paths, " ")
}
