package oidc_test

import (
	"fmt"
	"log"
	"net/http"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/page/oidc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func Example() {
	secret := []byte("32 random bytes: elicit keygen..") // from where your secrets are

	login, err := oidc.New(oidc.Options{
		Issuer:       "https://accounts.example.com",
		ClientID:     "shop-pages",
		ClientSecret: "…",
		Base:         "https://mcp.example.com/pages",
		Secrets:      [][]byte{secret},
	})
	if err != nil {
		log.Fatal(err)
	}
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Secrets: [][]byte{secret}})
	pages := page.Enable(shop, page.Options{Base: "https://mcp.example.com/pages", Identify: login.Identify})

	mux := http.NewServeMux()
	mux.Handle("/pages/", pages)
	base, _ := pages.Base()
	fmt.Println("register this redirect URI:", base+"/login/callback")
	// Output: register this redirect URI: https://mcp.example.com/pages/login/callback
}
