"""Methods on image features: embeddings, linear models, nearest images."""
