package sensitive

import (
	"slices"
	"strings"
	"testing"
)

// Names of fields that ask for a credential.
var credentials = strings.Fields(`
	password Password PASSWORD userPassword user_password passwordConfirmation new-password password2 oldPassword dbPassword passwd pwd
	passphrase sshPassphrase passcode userPass db_pass smtpPass
	pin PIN cardPin userPIN pin_number simPinCode
	token accessToken access_token ACCESS_TOKEN apiToken authToken refreshToken bearerToken githubToken slackBotToken sessionToken personalAccessTokens idToken
	jwt authorizationHeader sessionCookie
	secret clientSecret client_secret webhookSecret sharedSecret apiSecret secretValue appSecrets
	apiKey api_key APIKey API_KEY apikey apiKeys x-api-key privateKey sshKey sshPrivateKey secretKey secretAccessKey accessKey encryptionKey signingKey masterKey openaiKey stripeApiKey awsSecretKey serviceAccountKey
	otp totp otpCode oneTimeCode one_time_password verificationCode mfaCode twoFactorCode 2faCode smsCode loginCode recoveryCode backupCodes accessCode doorCode authenticatorCode
	seedPhrase recoveryPhrase mnemonic walletSeed securityAnswer magicLink
	credentials awsCredentials loginCredential dbCreds connectionString kubeconfig
	cardNumber card_number creditCard creditCardNumber debitCardNumber cvv cvc cardCVC cvv2 cardSecurityCode cardExpiry cardExpirationDate paymentCardDetails giftCardNumber`)

// Names of fields that only look like it, or that are personal but no credentials.
var innocent = strings.Fields(`
	shippingPin mapPin pinColor pinLocation pinCount gpioPin pinnedPost pinboard pinecone spinner dropPin pinToTop pinDate pincode pinCode
	tokenCount token_count maxTokens totalTokens inputTokens tokenLimit tokenBudget tokenType tokenSymbol tokenName nextToken pageToken tokenizer tokens cancellationToken
	passport passportNumber passenger passengerCount passRate boardingPass bypass compass password_policy passwordLength passwordResetEmail passwordHint passwordExpiry seasonPass pass
	secretary secretSanta secretName secretId secretManager secretRecipe
	key primaryKey sortKey publicKey partitionKey foreignKey keyboard keyword keyName keyCount apiKeyId apiKeyName accessKeyId sshKeyName keyContact hotkey monkey songKey accountKeyContact publicSshKey2Name
	zipCode postalCode countryCode promoCode couponCode errorCode areaCode qrCode discountCode confirmationCode code codeReview
	cardHolderName creditCardType creditCardLast4 creditCardHolder cardBrand businessCardNumber loyaltyCardNumber libraryCardNumber cardType wildcard postcard cardColor creditLimit creditScore sdCardNumber
	username userName login email phone address iban accountNumber routingNumber dateOfBirth ssn taxId birthday maidenName securityLevel securityQuestion authorName author authorizationDate sessionId sessionName session cookie cookies resetPassword forgotPassword credentialType otpLength verificationMethod accessLevel
	private public privateNote shared signingDate encryptionAlgorithm licenseKey masterData expiryDate trackingNumber parcels carrier fragile`)

func TestNames(t *testing.T) {
	if len(credentials) < 60 || len(innocent) < 60 {
		t.Fatalf("%d and %d names", len(credentials), len(innocent))
	}
	for _, name := range credentials {
		if InName(name) == "" {
			t.Errorf("%s (%q) passes", name, Split(name))
		}
	}
	for _, name := range innocent {
		if term := InName(name); term != "" && !slices.Contains(known, name) {
			t.Errorf("%s is reported for %q", name, term)
		}
	}
	for _, name := range known {
		if InName(name) == "" {
			t.Errorf("%s is no longer reported: take it off the list", name)
		}
	}
}

// known are reported although they are no credentials. Their authors say so: NotCredential.
var known = []string{"resetPassword", "forgotPassword"}

func TestTitles(t *testing.T) {
	for title, want := range map[string]bool{
		"Password": true, "Your password": true, "API key": true, "PIN": true, "Access Token": true, "Card number": true, "CVC": true, "Security code": true, "One-time code": true, "Mother's maiden name": true, "Mother’s maiden name": true,
		"Tracking number": false, "Passport": false, "Shipping pin": false, "Token count": false, "Card holder": false, "Name on the card": false, "Key contact": false, "Secret Santa": false, "": false, "Ключ": false, "Reset password": true,
	} {
		if got := InTitle(title); (got != "") != want {
			t.Errorf("%s: %q", title, got)
		}
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"Please enter your password.": true, "Paste the token from the settings page": true, "Your PIN, four digits": true, "The API key of the project": true, "enter a secret": true, "Sign in. Your one-time code is in the mail": true,
		"We need your credit card to continue": true, "The private key, in PEM": true, "Type the verification code we sent": true, "Provide the connection string of the database": true,
		"Drop a pin on the map.": false, "Counts each token once.": false, "The secret of a good cake": false, "Printed on the label, next to the bar code": false, "The key to the answer": false, "How long passwords live: the password policy": true,
		"A passport or an identity card": false, "Turn the key. Card numbers follow": true, "Name as it is on the credit card statement": false, "": false, "The token count of the prompt": false, "Where should the pin point?": false,
	} {
		if got := InText(text); (got != "") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"trackingNumber": "tracking number", "API_KEY": "api key", "HTTPServer": "http server", "apiKEY": "api key", "userIDs": "user ids", "cvv2": "cvv", "2fa": "2fa", "2faCode": "2fa code", "x-api-key": "x api key", "123": "123", "": "", "__": "", "don't": "don't", "Ünïcode": "ünïcode",
	} {
		if got := strings.Join(Split(name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"see https://acme.com/terms.": "https://acme.com/terms", "HTTP://ACME.COM": "HTTP://ACME.COM", "(https://acme.com)": "https://acme.com", "a www.acme.com b": "www.acme.com", "www.acme.com": "www.acme.com",
		"https://example.com/ and https://acme.com/": "https://acme.com/", "https://example.com.acme.com/": "https://example.com.acme.com/", "https://example.com@acme.com/": "https://example.com@acme.com/",
		"https://acme.com\\@example.com/": "https://acme.com\\@example.com/", "https://notexample.com": "https://notexample.com", "http://192.0.2.1.acme.com": "http://192.0.2.1.acme.com", "http://10.0.0.1/": "http://10.0.0.1/",
		"https://[::1": "https://[::1", "xhttps://acme.com": "https://acme.com", "“https://acme.com”": "https://acme.com", "https://acme.com/ä": "https://acme.com/ä", "İ https://acme.com": "https://acme.com", "https://аcme.com": "https://аcme.com", "https://%": "https://%",
		"": "", "no link": "", "https://": "", "http:// or https://": "", "such as https://example.com/a?b": "", "https://shop.example/": "", "https://sub.example.org.": "", "http://localhost:8080/x": "", "http://127.0.0.1/": "", "http://[::1]:5280/": "", "http://192.0.2.7/": "", "http://[2001:db8::1]/": "",
		"https://…": "", "an address that begins with https://": "", "mailto:a@acme.com": "", "ftp://acme.com": "", "www. is not needed": "", "awww.cute": "", "http": "", "www.example.com": "",
	} {
		if got := URL(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func FuzzTexts(f *testing.F) {
	for _, s := range []string{"Please enter your password", "https://acme.com/", "www.", "API_KEY2", "İhttps://x", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		InName(s)
		InText(s)
		if u := URL(s); u != "" && !strings.Contains(strings.ToLower(s), strings.ToLower(u)) {
			t.Fatalf("%q in %q", u, s)
		}
	})
}
