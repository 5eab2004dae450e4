"""GPU hardware: a record for each instruction and each product, a folder for each generation;
limits of chips."""
