package lint

var BareSchema = rule("elicit009", "x", func(*reporter) error { return nil })
