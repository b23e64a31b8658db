"""The one-shot run: check, fix, prove, and keep what the proof accepts."""
