package sqlite

import (
	"errors"
	"io"
)

// lock takes the lock of the file at path, which ends with the process, however that ends. It is that of a file beside it, since
// SQLite locks the file itself.
func lock(path string) (io.Closer, error) {
	f, err := lockFile(path + ".lock")
	if errors.Is(err, errLocked) {
		return nil, errors.New("another process, or another Store of this one, has it open; a file is of one process, tasks/postgres is for several")
	}
	if err != nil {
		return nil, err // not a nil *os.File
	}
	return f, nil
}

var errLocked = errors.New("locked")
