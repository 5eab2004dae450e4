"""What GPUs have: a record for each instruction and each product, a folder for each generation; limits of chips."""
