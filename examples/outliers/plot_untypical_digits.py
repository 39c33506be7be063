"""
Which handwritten digits are hard to recognise?
===============================================

1,797 scanned digits are used to train a program that reads postcodes. Which
images are so untypical of their digit that a person should check them first?
"""

# %%
# One detector for each digit
# ---------------------------
# An image is a row of 64 grey values. :class:`~typicality.OneClusterPCM` is
# fitted to the images of one digit at a time, without the pixels that are
# always empty. A low score means that few images of this digit look like this
# image.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline

from typicality import OneClusterPCM

digits = load_digits()
ranked = []
for digit in range(10):
    images = digits.images[digits.target == digit]
    rows = images.reshape(len(images), -1)
    detector = make_pipeline(VarianceThreshold(), OneClusterPCM()).fit(rows)
    scores = detector.score_samples(rows)
    ranked.append(images[np.argsort(scores)])

# %%
# Draw the least and the most typical images
# ------------------------------------------

figure, axes = plt.subplots(5, 10, figsize=(8, 4.6), layout="constrained")
for digit, images in enumerate(ranked):
    for ax, image in zip(
        axes[:, digit], [images[-1], *images[:4]], strict=True
    ):
        ax.imshow(image, cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    axes[0, digit].set_title(digit)
for ax, name in zip(
    axes[:, 0], ["most typical", *["untypical"] * 4], strict=True
):
    ax.set_ylabel(name, fontsize=9)
for ax in axes[0]:
    for side in ax.spines.values():
        side.set(color="#009E73", linewidth=3)
plt.show()

# %%
# What we learn
# -------------
# Most untypical images are not noise. They are rare ways of writing: ones with
# a hook, crossed sevens, thin eights and slanted nines. Some could be read as
# another digit. Sort the images by the score to check the most untypical ones
# first.
