package sqlvault_test

import (
	"context"
	"database/sql"
	"log"
	"os"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/page/sqlvault"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The program imports its driver, as _ "github.com/jackc/pgx/v5/stdlib".
func ExampleNew() {
	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(20)
	vault, err := sqlvault.New(context.Background(), db, sqlvault.PostgreSQL, nil)
	if err != nil {
		log.Fatal(err)
	}
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), nil)
	page.Enable(shop, page.Options{Vault: vault})
}
