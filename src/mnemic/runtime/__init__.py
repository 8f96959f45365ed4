"""Runtime: clock, threads, forks and circuit breaker; independent of memories."""
