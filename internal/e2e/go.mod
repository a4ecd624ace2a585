module github.com/elicit-go/elicit/internal/e2e

go 1.26

replace github.com/elicit-go/elicit => ../..
