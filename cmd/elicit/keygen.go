package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
)

type keygenCmd struct{}

func (*keygenCmd) Help() string {
	return `The secret, 32 random bytes in Base64, goes to stdout, so that it can be put where it is kept without being seen.

Examples:

  elicit keygen > secret
  ELICIT_SECRET=$(elicit keygen) shop`
}

func (*keygenCmd) Run(con *console) error {
	secret := make([]byte, 32)
	rand.Read(secret) // Never fails.
	fmt.Fprintln(con.out, base64.StdEncoding.EncodeToString(secret))
	con.say(`Keep it out of the source, for instance in the environment variable ELICIT_SECRET, and give it to every instance:

    secret, err := base64.StdEncoding.DecodeString(os.Getenv("ELICIT_SECRET"))
    shop := elicit.New(server, &elicit.Options{Secrets: [][]byte{secret}})

To rotate, first give every instance the new secret behind the old one. When all have it, put it first; an hour later
(Options.MaxAge), take the old one away.`)
	return nil
}
