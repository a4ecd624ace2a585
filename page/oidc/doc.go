// Package oidc is a page.Identify that signs people in with OpenID Connect: with the issuer whose tokens the MCP server
// accepts, so that who is at the browser can be compared with who called the tool.
//
//	login, err := oidc.New(oidc.Options{
//		Issuer:       "https://accounts.example.com",
//		ClientID:     "shop-pages",
//		ClientSecret: os.Getenv("OIDC_SECRET"),
//		Base:         "https://mcp.example.com/pages",
//		Secrets:      secrets,
//	})
//	…
//	pages := page.Enable(shop, page.Options{Base: "https://mcp.example.com/pages", Identify: login.Identify, …})
//	mux.Handle("/pages/", pages)
//
// A person who opens a link and is not signed in is sent to the issuer, with the authorization code flow, PKCE, a state and a
// nonce, and comes back to the page. Page compares the issuer and the subject of the ID token with those of the MCP token:
// the issuer must give a user the same subject in both, which it does unless its subjects are pairwise (OpenID Connect Core
// 1.0, section 8.1) and the clients are in different sectors.
//
// The session is a cookie, sealed, of this host alone (__Host-, where Base is https), for [Options].Session. It is made anew
// at every login. Nothing is stored on the server.
package oidc
