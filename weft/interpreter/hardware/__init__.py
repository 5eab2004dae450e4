"""GPU hardware: a record for each instruction and each product of tensor cores, with a folder for
each generation; the limits of chips."""
