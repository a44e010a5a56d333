import type { Block, Message } from './messages.ts';

/** Larger files belong in a store that the graph can read. Bytes. */
const MAX_BYTES = 5_000_000;

/** Files as content blocks: images in the form that all providers accept, other files with name and type. */
export async function blocksOfFiles(files: readonly File[]): Promise<Block[]> {
  const large = files.find(({ size }) => size > MAX_BYTES);
  if (large) throw new Error(`${large.name} is larger than 5 MB. Attach a smaller file.`);
  return Promise.all(files.map(blockOf));
}

async function blockOf(file: File): Promise<Block> {
  const url = await dataUrl(file);
  if (file.type.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  return {
    type: 'file',
    source_type: 'base64',
    mime_type: file.type || 'application/octet-stream',
    data: url.slice(url.indexOf(',') + 1),
    metadata: { filename: file.name },
  };
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(new Error(`${file.name} could not be read.`)));
    reader.readAsDataURL(file);
  });
}

/** The content of a message: a plain string if nothing is attached. */
export function contentOf(text: string, blocks: readonly Block[]): Message['content'] {
  if (blocks.length === 0) return text;
  return text === '' ? blocks : [{ type: 'text', text }, ...blocks];
}

/** The content of a message with a new text. Images and files are kept. */
export function withText({ content }: Message, text: string): Message['content'] {
  return typeof content === 'string'
    ? text
    : contentOf(
        text,
        content.filter(({ type }) => type !== 'text'),
      );
}
