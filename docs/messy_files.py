"""Three files as people send them, for docs/messy_files.md: python messy_files.py."""

import gzip
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

_TOWNS = ["Köln", "Münster", "Lübeck", "Görlitz", "Ulm", "Jena", "Mainz", "Fürth"]


def write_shops() -> None:
    """A German export: semicolons, decimal commas, points between thousands, Latin-1.

    In line 58 somebody typed one digit too many.
    """
    rng = np.random.default_rng(3)
    lines = ["Filiale;Ort;Umsatz;Kunden;Bon"]
    for i in range(120):
        customers = int(rng.normal(1900, 300))
        receipt = rng.normal(21, 2.5)
        sales = customers * receipt * (10 if i == 56 else 1)
        thousands = [f"{value:,.0f}".replace(",", ".") for value in (sales, customers)]
        average = f"{receipt:.2f}".replace(".", ",")
        lines.append(";".join([f"F{i + 1:03}", _TOWNS[i % 8], *thousands, average]))
    Path("shops.csv").write_bytes("\r\n".join([*lines, ""]).encode("latin-1"))


def write_wines() -> None:
    """Real measurements, compressed, with an id, gaps written as - and a price with a sign."""
    rng = np.random.default_rng(4)
    wine = load_wine()
    chosen = [wine.feature_names.index(name) for name in ("alcohol", "flavanoids", "proline")]
    hue = wine.feature_names.index("hue")
    lines = ["no,grower,alcohol,flavanoids,proline,hue,price"]
    for i, (row, kind) in enumerate(zip(wine.data, wine.target, strict=True), start=1):
        cells = ["-" if rng.random() < 0.02 else f"{row[j]:g}" for j in [*chosen, hue]]
        price = f"${6 + 4 * rng.random():.2f}"
        lines.append(",".join([str(i), ["Abel", "Bruno", "Carla"][kind], *cells, price]))
    with gzip.open("wines.csv.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join([*lines, ""]))


def write_parcels() -> None:
    """A log between blanks under lines of comments, with categories and empty cells."""
    rng = np.random.default_rng(5)
    lines = [
        "# parcels of March",
        "# weight in kg, time in days",
        "parcel carrier zone weight days",
    ]
    for i in range(200):
        abroad = rng.random() < 0.3
        carrier = "sea" if abroad and rng.random() < 0.8 else "road"
        days = rng.normal(21, 2) if carrier == "sea" else rng.normal(3 + 2 * abroad, 0.7)
        weight = "NA" if i in (17, 90) else f"{rng.normal(8.0, 1.5):.1f}"
        if i == 120:
            carrier, abroad, days, weight = "sea", False, 20.0, "11.5"
        zone = "abroad" if abroad else "home"
        lines.append(f"P{1000 + i}  {carrier:4}  {zone:6}  {weight:>5}  {days:5.1f}")
    Path("parcels.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    write_shops()
    write_wines()
    write_parcels()
