"""What people read: messages, progress, colors, reports and what changed; for the command line and the REPL alike."""
