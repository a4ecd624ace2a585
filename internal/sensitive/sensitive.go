// Package sensitive finds in the words of a form what has no place there: requests for credentials, and links.
//
// "Servers MUST NOT use form mode elicitation to request sensitive information such as passwords, API keys, access tokens, or
// payment credentials", which means "secrets and credentials that grant access or authorize transactions" (MCP 2026-07-28,
// client/elicitation). So a user name, an address, an IBAN or a birthday is none, and a password, a key or a card number is.
//
// Words are English, whole, and compared without case: a passport is no pass. It is a net for mistakes of authors, and a warning
// to people about foreign forms; who wants to get around it can.
package sensitive

import (
	"slices"
	"strings"
	"unicode"
)

// InName is the term in a field's name by which the field seems to ask for a credential, or "". The name is split at changes of
// case, at digits' ends and at anything that is neither letter nor digit: API_KEY, apiKey and ApiKey2 are "api key".
func InName(name string) string { return find(Split(name), false) }

// InTitle is the same for a title: a few words, or a label such as "PIN".
func InTitle(title string) string { return find(Split(title), false) }

// InText is the same for a sentence, a description or a message. There, a word that has other meanings counts only after one that
// gives it that of a credential: "your PIN", but not "a pin on the map".
func InText(text string) string {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '.' || r == ';' || r == '!' || r == '?' || r == '\n' }) {
		if term := find(Split(sentence), true); term != "" {
			return term
		}
	}
	return ""
}

// A term is a word, or words in a row, that name a credential.
type term struct {
	words []string

	// notAfter and notBefore are the words beside it that make it something else: a shipping pin, a token count.
	notAfter, notBefore map[string]bool

	// weak words have other meanings: they count in names and titles by themselves, in a sentence only after an owner or a kind.
	weak bool

	// after, if not nil, are the only words after which it counts.
	after map[string]bool
}

// terms are all of them, by their first word.
var terms = func() map[string][]term {
	all := map[string][]term{}
	add := func(t term, phrases ...string) {
		for _, p := range phrases {
			t.words = strings.Fields(p)
			all[t.words[0]] = append(all[t.words[0]], t)
		}
	}

	// Passwords. What is said about them, rather than asked for, passes: passwordPolicy, passwordResetEmail.
	about := set(`policy policies length strength hint expiry expires expiration reset rotation rotate manager age rule rules changed change
		protected protection required less free count history field type format id name names label reminder enabled disabled attempts expired`)
	add(term{notBefore: about}, "password", "passwords", "passwd", "pwd", "passphrase", "passphrases", "passcode", "passcodes", "pass code", "pass phrase", "pass word", "userpassword", "dbpassword")
	add(term{after: set("user login my your admin root db database mail email smtp ftp imap wifi account basic sudo http proxy")}, "pass")

	// A PIN is a number that grants access; a pin is also a thing on a map, a board, a chip or a jacket.
	add(term{weak: true,
		notAfter: set(`shipping map drop dropped location gpio push hair bowling rolling safety lapel enamel input output io board chip
			power ground reset led data clock tie hat cotter firing split dowel pull position bobby header connector debug pickup delivery
			destination place geo pinned unpin`),
		notBefore: set(`count counts color colour location label labels type map point position layout out header diameter size size message post
			board date name icon note comment tab to top item items collection collections drop up down mode assignment state code codes number numbers`),
	}, "pin")
	add(term{notAfter: set("shipping delivery postal area india gpio map")}, "pin number", "pin numbers")
	add(term{after: set("card bank atm account sim security your my user login unlock secret enter phone device")}, "pin code", "pincode", "pins")

	// Tokens. What counts or describes them passes: tokenCount, maxTokens, tokenType.
	measures := set(`count counts limit limits budget usage used type types size length name names symbol price prices amount supply standard
		expiry expires expiration ttl lifetime window rate cost costs per quota id ids uri url endpoint address holder holders sale ratio
		estimate estimates decimals contract metadata transfer balance separator position index offset ring`)
	add(term{weak: true, notBefore: measures,
		notAfter: set(`max min maximum minimum input output prompt completion total context number of per nft governance reward
			cancellation lexical next previous first last page continuation cursor game parking subway bus arcade placeholder design
			theme syntax special native fungible ring utility`)}, "token")
	access := `access api auth authentication authorization authorisation bearer refresh session security user github gitlab slack discord telegram bot
		personal oauth oauth2 jwt csrf xsrf service login deploy deployment webhook device registry npm pypi id identity account admin
		secret private app application client hub cloud aws azure gcp stripe twilio openai anthropic`
	add(term{after: set(access)}, "tokens")
	add(term{}, "jwt", "json web token", "bearer")

	// Secrets. A secret's name is none, nor is secretary or Secret Santa.
	add(term{weak: true, notBefore: set(`name names id ids path paths arn ref reference references manager santa menu recipe garden ingredient
		ingredients agent admirer count type store engine version word level location weapon service sauce location lover mission
		project projects shopper ballot rotation policy scanning scanner scope backend`),
		notAfter: set("top no open worst best kept trade")}, "secret")
	add(term{after: set("client api app application account user your my the webhook shared all signing encryption enter")}, "secrets")

	// Keys of every kind but those of databases, pianos and houses.
	keys := `api access secret private encryption decryption signing signature ssh gpg pgp rsa dsa ecdsa ed25519 master auth authentication authorization
		authorisation session wallet storage service subscription shared root hmac aes app application account developer deploy client security
		webhook license activation openai anthropic stripe aws azure gcp google github secretaccess bearer admin ssl tls host backup recovery`
	add(term{after: without(set(keys), "service", "account", "client", "app", "application", "host", "google", "license", "activation", "root", "shared", "storage", "subscription", "backup", "developer"),
		notBefore: set(`id ids name names alias type types fingerprint length size count label algorithm usage expiry date created path version
			holder performance result results findings point points`)}, "key", "keys")
	add(term{after: set("service account client app application host shared root storage subscription backup developer"),
		notBefore: set(`id ids name names alias type types fingerprint length size count label algorithm usage expiry date contact contacts person people
			figure figures feature features point points metric metrics result results`)}, "key")
	add(term{notBefore: set("id ids name names count type label")}, "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "sshkey", "authkey", "signingkey", "encryptionkey", "masterkey",
		"authtoken", "accesstoken", "apitoken", "refreshtoken", "bearertoken", "sessiontoken", "clientsecret", "apisecret")
	add(term{}, "private pem", "key pair", "keypair", "keystore password")

	// Codes and phrases that let somebody in.
	add(term{notBefore: set("type format length delivery channel method count sent expiry ttl attempts")},
		"otp", "totp", "hotp", "2fa code", "mfa code", "tfa code", "factor code", "2fa", "one time code", "one time password", "onetime code", "onetime password",
		"verification code", "authentication code", "authenticator code", "authorization code", "authorisation code", "auth code", "login code", "signin code", "sign in code", "sms code", "security code",
		"access code", "access codes", "unlock code", "recovery code", "recovery codes", "backup code", "backup codes", "mfa token", "door code", "alarm code", "gate code")
	add(term{}, "seed phrase", "recovery phrase", "secret phrase", "backup phrase", "wallet seed", "mnemonic", "mnemonic phrase", "security answer", "secret answer", "mothers maiden name", "mother's maiden name",
		"magic link", "login link", "session cookie", "session cookies", "auth cookie", "authorization header", "auth header", "connection string", "kubeconfig", "htpasswd", "netrc")
	add(term{notBefore: set("type types id ids name names provider expiry count status store helper manager check date rotation scope owner")},
		"credential", "credentials", "creds")

	// Payment cards. A brand, the name on it and its last digits pass; so do cards that do not pay.
	notPaying := set("business library loyalty membership member id identity sim report score post postal playing graphics memory sd health insurance student index data punch time trading board green residence")
	add(term{notAfter: notPaying, notBefore: set("of type format length prefix")}, "card number", "card numbers", "card no", "cardnumber", "card num")
	add(term{notAfter: notPaying}, "card cvc", "card cvv", "card code", "card expiry", "card expiration", "card security", "card pin", "card details", "card data", "cardpin", "card pan")
	add(term{notBefore: set(`type types brand brands issuer issuers network networks last last4 holder holders holder's name company companies accepted accepts
		payment payments fee fees surcharge count statement statements limit limits score scores user users owner offer offers rewards reward
		preference preferences nickname label id bill bills machine reader readers terminal terminals`)}, "credit card", "debit card", "creditcard", "debitcard", "bank card", "payment card")
	add(term{}, "cvv", "cvc", "cvv2", "cvc2", "card verification", "primary account number")
	add(term{}, "online banking login", "banking pin")
	return all
}()

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func without(m map[string]bool, words ...string) map[string]bool {
	for _, w := range words {
		delete(m, w)
	}
	return m
}

// owners and kinds are the words that make a weak one a credential in a sentence.
var owners = set(`your my his her their user's users user customer's customer card bank atm sim account security login unlock access api auth bearer
	refresh session github gitlab slack bot personal oauth client app webhook shared signing service authentication authorization private secret
	device phone admin enter paste type provide valid current new`)

// determiners may stand between an owner's verb and the word: enter the token.
var determiners = set("the a an this that your my its")

// find is the first term in the words, as it is written there.
func find(words []string, sentence bool) string {
	for i, first := range words {
		for _, t := range terms[first] {
			n := len(t.words)
			if i+n > len(words) || !slices.Equal(words[i:i+n], t.words) {
				continue
			}
			before, after := "", ""
			if i > 0 {
				before = words[i-1]
			}
			if i+n < len(words) {
				after = words[i+n]
			}
			switch {
			case t.notAfter[before], t.notBefore[after], t.after != nil && !t.after[before]:
				continue
			case t.weak && sentence && !owned(words[:i]):
				continue
			}
			found := strings.Join(t.words, " ")
			if t.after != nil {
				found = before + " " + found
			}
			return found
		}
	}
	return ""
}

// owned reports whether the words before make a weak one a credential.
func owned(before []string) bool {
	n := len(before)
	if n == 0 {
		return false
	}
	if owners[before[n-1]] {
		return true
	}
	return determiners[before[n-1]] && n > 1 && (before[n-2] == "enter" || before[n-2] == "paste")
}

// Split is the words of a name or a text in lower case: parted at changes of case and at what is neither letter nor digit,
// without digits at their ends.
func Split(s string) (words []string) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' })
	for _, part := range parts {
		for _, w := range camel(part) {
			w = strings.ToLower(strings.ReplaceAll(w, "’", "'"))
			if trimmed := strings.TrimRight(w, "0123456789"); trimmed != "" {
				w = trimmed
			}
			words = append(words, strings.Trim(w, "'"))
		}
	}
	return words
}

// camel parts a word at changes of case: trackingNumber, HTTPServer.
func camel(part string) (words []string) {
	runes := []rune(part)
	start := 0
	for i := 1; i < len(runes); i++ {
		before, r := runes[i-1], runes[i]
		cut := i
		switch {
		case unicode.IsUpper(r) && !unicode.IsUpper(before):
		case unicode.IsLower(r) && unicode.IsUpper(before) && i-1 > start:
			if plural := r == 's' && (i+1 == len(runes) || !unicode.IsLower(runes[i+1])); plural {
				continue
			}
			cut = i - 1
		default:
			continue
		}
		words = append(words, string(runes[start:cut]))
		start = cut
	}
	return append(words, string(runes[start:]))
}
