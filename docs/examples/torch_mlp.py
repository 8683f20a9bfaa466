"""Train a network with one hidden layer in PyTorch, and score the test images: torch_mlp.py PROBLEM SCORES SEED.

PROBLEM is the folder that `vsebench export` writes, with features of the images (features.npy); SCORES is the .npz to
write. The loss is the binary cross-entropy of each label; Adam trains on the labels of final.csv.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import torch

HIDDEN, EPOCHS, BATCH, LEARNING_RATE, WEIGHT_DECAY = 256, 30, 128, 1e-3, 1e-4


def read(path):
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def targets(pairs, ids, labels):
    """Return a matrix with a row per image and a column per label: 1 where the image has the label."""
    row_of, column_of = ({name: n for n, name in enumerate(names)} for names in (ids, labels))
    target = torch.zeros(len(ids), len(labels))
    for pair in pairs:
        target[row_of[pair["image"]], column_of[pair["label"]]] = 1
    return target


def train(features, target):
    network = torch.nn.Sequential(
        torch.nn.Linear(features.shape[1], HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, target.shape[1])
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in torch.randperm(len(features)).split(BATCH):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(network(features[batch]), target[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(batch)
        print(f"epoch {epoch + 1}: {total / len(features):.4f}", flush=True)
    return network


def main():
    problem, scores, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    torch.manual_seed(seed)
    images, names = read(problem / "images.csv"), [label["name"] for label in read(problem / "labels.csv")]
    ids = [image["id"] for image in images]
    features = torch.from_numpy(np.load(problem / "features.npy")).float()
    learnt, test = (torch.tensor([image[part] == "true" for image in images]) for part in ("final", "test"))
    target = targets(read(problem / "final.csv"), ids, names)
    network = train(features[learnt], target[learnt])
    with torch.no_grad():
        matrix = network(features[test]).numpy()
    tested = [name for name, is_tested in zip(ids, test.tolist(), strict=True) if is_tested]
    np.savez(scores, scores=matrix, ids=np.array(tested), labels=np.array(names))


main()
