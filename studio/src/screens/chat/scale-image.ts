/** Models see no more: what is larger they scale down themselves. Pixels of the longer side. */
const MAX_SIDE = 1600;
/** Smaller images are sent as they are, bytes. */
const SMALL = 1_000_000;
const QUALITY = 0.85;
/** Drawings without pixels, and images that may move. */
const KEPT = new Set(['image/svg+xml', 'image/gif']);

/** An image that is large in bytes or pixels, scaled down to a JPEG; any other file as it is. */
export async function scaledDown(file: File): Promise<File> {
  if (!file.type.startsWith('image/') || KEPT.has(file.type)) return file;
  // What the browser cannot read, the model may.
  const image = await createImageBitmap(file).catch(() => undefined);
  if (!image) return file;
  const { width, height } = image;
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  if (scale === 1 && file.size <= SMALL) {
    image.close();
    return file;
  }
  const canvas = new OffscreenCanvas(Math.round(width * scale), Math.round(height * scale));
  const context = canvas.getContext('2d');
  if (!context) return file;
  // A JPEG has no transparent pixels, which would be black.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY });
  if (blob.size >= file.size) return file;
  return new File([blob], file.name.replace(/\.\w+$/, '.jpg'), { type: blob.type });
}
