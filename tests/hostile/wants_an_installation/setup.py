raise SystemExit("I must not run")
