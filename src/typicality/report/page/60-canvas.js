// Points as pixels: shapes are stamped into a buffer, because 100,000 arcs would take too long.

// A canvas with the size of its box, in the pixels of the screen.
function fitCanvas(canvas) {
  const box = canvas.parentElement.getBoundingClientRect();
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const width = Math.max(1, Math.round(box.width * ratio));
  const height = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  return { ratio, width: box.width, height: box.height };
}

// How far from the centre of a shape a pixel is: the shape ends at its radius. Areas are about equal.
const DISTANCES = [
  (x, y) => Math.hypot(x, y),
  (x, y) => 1.13 * Math.max(Math.abs(x), Math.abs(y)),
  (x, y) => 1.3 * Math.max(y, 0.866 * Math.abs(x) - 0.5 * y),
  (x, y) => 0.8 * (Math.abs(x) + Math.abs(y)),
];

// How far a shape (or, with a hole, its rim) covers the pixels around its centre, in 256ths.
function makeStamp(shape, radius, hole, opacity, stride) {
  const reach = Math.ceil(1.6 * radius);
  const offsets = [];
  const covers = [];
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const distance = DISTANCES[shape](x, y);
      const inside = clamp(radius - distance + 0.5, 0, 1);
      const outside = hole > 0 ? clamp(distance - hole + 0.5, 0, 1) : 1;
      const cover = Math.round(256 * opacity * inside * outside);
      if (cover > 0) {
        offsets.push(y * stride + x);
        covers.push(cover);
      }
    }
  }
  return { offsets: Int32Array.from(offsets), covers: Int32Array.from(covers) };
}

const packed = ([red, green, blue]) => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;

// Red with blue, and green alone, are mixed two at a time.
function stampAt(pixels, at, stamp, colour) {
  const { offsets, covers } = stamp;
  const redBlue = colour & 0xff00ff;
  const green = colour & 0xff00;
  for (let k = 0; k < offsets.length; k++) {
    const place = at + offsets[k];
    const old = pixels[place];
    const oldRedBlue = old & 0xff00ff;
    const oldGreen = old & 0xff00;
    const mixedRedBlue = oldRedBlue + (Math.imul(redBlue - oldRedBlue, covers[k]) >> 8);
    const mixedGreen = oldGreen + (Math.imul(green - oldGreen, covers[k]) >> 8);
    pixels[place] = 0xff000000 | (mixedRedBlue & 0xff00ff) | (mixedGreen & 0xff00);
  }
}

// A buffer of pixels that is kept as long as the canvas keeps its size.
class Pixels {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    this.image = null;
  }

  clear(colour) {
    const { width, height } = this.canvas;
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    this.words.fill(packed(colour));
  }

  vertical(x, top, bottom, colour) {
    for (let y = top; y <= bottom; y++) this.words[y * this.image.width + x] = packed(colour);
  }

  horizontal(y, left, right, colour) {
    this.words.fill(packed(colour), y * this.image.width + left, y * this.image.width + right + 1);
  }

  show() {
    this.context.putImageData(this.image, 0, 0);
  }
}
