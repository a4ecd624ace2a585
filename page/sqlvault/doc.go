// Package sqlvault keeps what people entered on pages in a database that the program has already: a [page.Vault] for several
// instances, and over restarts.
//
//	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
//	…
//	vault, err := sqlvault.New(ctx, db, sqlvault.PostgreSQL, nil)
//	…
//	pages := page.Enable(shop, page.Options{Vault: vault, …})
//
// It works with any driver of database/sql, and imports none. All is in one table, which [New] makes (in SQLite, sealed is a BLOB):
//
//	CREATE TABLE elicit_vault (key TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, secret TEXT NOT NULL, sealed BYTEA NOT NULL, expires_at BIGINT NOT NULL);
//	CREATE INDEX elicit_vault_expires_at ON elicit_vault (expires_at);
//	CREATE INDEX elicit_vault_owner ON elicit_vault (owner);
//
// key and owner say nothing to who reads them: the rows of one user have one owner. secret names the one of elicit.Options.Secrets that sealed is under, and expires_at is
// in Unix milliseconds. The database, its backups and its logs hold nothing that can be read without the secrets, so keep
// these elsewhere. Rows that have expired are removed as others are added. One owner has at most 2,048 rows and 4 MiB in them.
//
// # SQLite
//
// Open it so that writers wait for each other, such as with the parameters _pragma=busy_timeout(5000) and
// _pragma=journal_mode(WAL) of modernc.org/sqlite. A database in memory is another one for each connection: limit these to
// one (db.SetMaxOpenConns).
//
// # Other databases
//
// What speaks the SQL of PostgreSQL or SQLite, such as CockroachDB or libSQL, takes their [Dialect]. For others implement
// [page.Vault], which has five methods of one statement or two, and test it with page/vaulttest. In MySQL:
//
//	Find     SELECT … WHERE expires_at > ? AND `key` IN (?, …)
//	Add      DELETE … WHERE `key` = ? AND expires_at <= ?, then INSERT IGNORE …: it did if one row was affected
//	Replace  UPDATE … WHERE `key` = ? AND sealed = ? AND expires_at > ?
//	Delete   DELETE … WHERE `key` = ? AND expires_at > ?
//	Secrets  SELECT DISTINCT secret … WHERE expires_at > ?
//
// with the key in a column whose collation tells small letters from capitals, such as VARCHAR(64) COLLATE utf8mb4_bin,
// and sealed in a MEDIUMBLOB.
package sqlvault
