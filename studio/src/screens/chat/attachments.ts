import { byteSize } from '../../ui/format.tsx';
import type { Block, Message } from './messages.ts';
import { scaledDown } from './scale-image.ts';

/** Room for the text of the message and the options of its run, bytes. */
const REST = 64_000;

/** Bytes of files that fit into a message, as base64. */
export function fileLimit(body_limit: number): number {
  return Math.max(0, Math.floor(((body_limit - REST) * 3) / 4));
}

/**
 * Files as content blocks: images in the form that all providers accept, other files with name and type. Throws if they and
 * what is `attached` already are more than a request may have.
 */
export async function blocksOfFiles(
  files: readonly File[],
  attached: readonly Block[],
  body_limit: number,
): Promise<Block[]> {
  const limit = fileLimit(body_limit);
  const scaled = await Promise.all(files.map(scaledDown));
  let left = limit - (JSON.stringify(attached).length * 3) / 4;
  for (const { name, size } of scaled) {
    left -= size;
    if (left < 0) throw new Error(`${name} is too large: a message has at most ${byteSize(limit)} of files.`);
  }
  return Promise.all(scaled.map(blockOf));
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
