"""Index arithmetic that folds what is known of its operands, and the guards made of it."""
