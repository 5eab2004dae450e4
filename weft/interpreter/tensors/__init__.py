"""The conversion from tensors to memrefs and back: fusion, destinations, write-backs,
bufferization."""
