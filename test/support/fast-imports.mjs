// Node asks the file system five times for each of a server's 5,700 imports: where the file really is, and which package
// decides its format. All files of a folder have the same answers. To start a server takes 1.0 s of CPU instead of 1.35.
// Only for imports by `src` and by packages, where nothing changes while a process runs.
import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { extname } from 'node:path';

const PLACES = ['src/', 'node_modules/'].map((place) => new URL(`../../${place}`, import.meta.url).href);

/** What Node found, by the address of a file; by the folder that imports a package, and the name. */
const files = new Map();
const packages = new Map();
/** The format of files, by folder and ending. A folder that is a link is not in it. */
const formats = new Map();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL, conditions, importAttributes } = context;
    const isKnown = parentURL !== undefined && PLACES.some((place) => parentURL.startsWith(place));
    const isPlain = conditions.includes('import') && Object.keys(importAttributes ?? {}).length === 0;
    if (!isKnown || !isPlain) return next(specifier, context);
    const found = () => next(specifier, context);
    return specifier.startsWith('.')
      ? fileAt(new URL(specifier, parentURL), found)
      : remembered(packages, `${folderOf(parentURL)} ${specifier}`, found);
  },
});

function fileAt(url, find) {
  return remembered(files, url.href, () => {
    const kind = `${folderOf(url.href)} ${extname(url.pathname)}`;
    const format = formats.get(kind);
    if (format !== undefined && statSync(url, { throwIfNoEntry: false })?.isFile())
      return { url: url.href, format };
    const found = find();
    if (found.url === url.href && found.format) formats.set(kind, found.format);
    return found;
  });
}

function remembered(known, key, find) {
  if (!known.has(key)) known.set(key, { ...find(), shortCircuit: true });
  return known.get(key);
}

function folderOf(href) {
  return href.slice(0, href.lastIndexOf('/'));
}
