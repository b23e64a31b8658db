"""How far `graphward check` agrees with the compiler: predicted consequences against stored verdicts."""
