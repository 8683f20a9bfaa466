"""Methods that see image features: embeddings, linear models, nearest images."""
