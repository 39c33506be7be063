"""
Which pixels of a photo belong to the flower?
=============================================

A photo shows a flower in front of leaves. Can the colours alone separate the
flower from the background, and how sharp is its edge?
"""

# %%
# Cluster the colours
# -------------------
# Every pixel is a row with three columns: red, green and blue. Every fourth
# pixel in both directions is enough here.

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from typicality import FuzzyCMeans

photo = load_sample_image("flower.jpg")[::4, ::4] / 255
height, width, _ = photo.shape
pixels = photo.reshape(-1, 3)
model = FuzzyCMeans(n_clusters=4, random_state=0).fit(pixels)
print(f"{len(pixels):,} pixels, cluster centres (red, green, blue):")
print(model.cluster_centers_.round(2))

# %%
# Show one membership as an image
# -------------------------------
# Two of the four clusters are red: the light and the dark parts of the petals.
# The sum of their memberships is the membership of the flower. It is a soft
# mask with values between 0 and 1. Mixing the photo with white by this mask
# cuts out the flower without a jagged edge.

red = model.cluster_centers_[:, 0] > 0.5
mask = model.memberships_[:, red].sum(axis=1).reshape(height, width)
labels = model.labels_.reshape(height, width)

figure, axes = plt.subplots(2, 2, figsize=(8, 5.7), layout="constrained")
axes[0, 0].imshow(photo)
axes[0, 0].set_title("photo")
axes[0, 1].imshow(model.cluster_centers_[labels])
axes[0, 1].set_title("hard labels: four colours")
axes[1, 0].imshow(mask, cmap="gray", vmin=0, vmax=1)
axes[1, 0].set_title("membership of the flower, 0 to 1")
axes[1, 1].imshow(photo * mask[..., None] + 1 - mask[..., None])
axes[1, 1].set_title("photo, cut out by the membership")
for ax in axes.flat:
    ax.set_axis_off()
plt.show()

# %%
# What we learn
# -------------
# The colours alone separate the flower from the leaves. The membership falls
# from 1 to 0 within a few pixels at the edge, and it is lower in the dark
# centre of the flower. Hard labels hide both. The position of a pixel is not
# used, so the second flower at the bottom is part of the mask, too.
