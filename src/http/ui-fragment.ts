import type { UiBundle } from '../graphs/ui/bundle.ts';

/**
 * What the official client puts into the shadow root of an element, with the element's id in place of
 * `{{shadowRootId}}` (CONTRACT §2, `/ui`). `base` is where the bundle's files are.
 */
export function uiFragment({ assets, global }: UiBundle, component: string, base: string): string {
  const tags = assets.map(({ file }) => {
    const address = escaped(`${base}/${file}`).replaceAll('"', '&quot;');
    if (file.endsWith('.css')) return `<link rel="stylesheet" href="${address}" />`;
    const call = `${global}.render(${escaped(JSON.stringify(component))}, "{{shadowRootId}}")`;
    return `<script src="${address}" onload='${call}'></script>`;
  });
  // Style sheets first, so that they load before there is something to style.
  return tags.sort().join('\n');
}

/** For an attribute in single quotes: the double ones within stay readable. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
}
