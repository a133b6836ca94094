"""Making the static model: sources, training pairs, the training itself. Needs the extra `train`."""
