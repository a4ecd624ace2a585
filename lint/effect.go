package lint

import (
	"go/types"
	"strings"
	"unicode"
)

// effects are functions of well-known packages that change something outside of the program.
var effects = map[string]bool{
	"database/sql.DB.Exec": true, "database/sql.DB.ExecContext": true, "database/sql.Tx.Exec": true, "database/sql.Tx.ExecContext": true,
	"database/sql.Conn.ExecContext": true, "database/sql.Stmt.Exec": true, "database/sql.Stmt.ExecContext": true, "database/sql.Tx.Commit": true,
	"net/http.Post": true, "net/http.PostForm": true, "net/http.Client.Post": true, "net/http.Client.PostForm": true,
	"net/smtp.SendMail": true,
	"os.WriteFile":      true, "os.Create": true, "os.Remove": true, "os.RemoveAll": true, "os.Rename": true, "os.Mkdir": true, "os.MkdirAll": true,
	"os/exec.Cmd.Run": true, "os/exec.Cmd.Start": true, "os/exec.Cmd.Output": true, "os/exec.Cmd.CombinedOutput": true,
}

// effectVerbs begin the names of functions that change something.
var effectVerbs = map[string]bool{}

func init() {
	for v := range strings.FieldsSeq(`add apply approve archive assign book buy cancel charge close commit confirm create debit delete deploy destroy
		disable drop enable exec execute grant insert install invite issue kick merge move notify order pay place post publish purchase push put
		refund register remove rename reserve reset restart revoke rotate save schedule send set ship start stop store submit terminate
		transfer trigger update upload upsert withdraw write`) {
		effectVerbs[v] = true
	}
}

// isEffect reports whether a function seems to change something outside of the program: one that is known to, or that takes a
// context and is named after such a change.
func isEffect(f *types.Func) bool {
	if f == nil || f.Pkg() == nil {
		return false
	}
	if effects[nameOf(f)] {
		return true
	}
	switch f.Pkg().Path() {
	case elicitPath, formPath, tasksPath, pagePath, "context", sdkPath:
		return false
	}
	params := f.Signature().Params()
	takes := false
	for v := range params.Variables() {
		takes = takes || isContext(v.Type())
	}
	return takes && !isLog(f) && effectVerbs[firstWord(f.Name())]
}

// firstWord is the first word of a name in camel case, in lower case.
func firstWord(name string) string {
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			return strings.ToLower(name[:i])
		}
	}
	return strings.ToLower(name)
}
