# `make demo` shows what Sluice does, `make test` runs every test. Both set the machine up first.
