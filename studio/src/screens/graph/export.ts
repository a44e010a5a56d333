import { allNodes, type GraphModel, type GraphNode } from './graph-model.ts';

/** CSS properties that an image needs to look the same without Studio's style sheet. */
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'font-family',
  'font-size',
  'font-weight',
  'paint-order',
];

/** A drawing as a self-contained file, with its computed styles inlined. */
export function svgFile(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const originals = [drawing, ...drawing.querySelectorAll('*')];
  const copies = [copy, ...copy.querySelectorAll('*')];
  for (const [i, element] of copies.entries()) {
    const original = originals[i];
    if (!original) continue;
    const style = getComputedStyle(original);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ['class', 'tabindex', 'role', 'aria-pressed', 'aria-expanded'])
      element.removeAttribute(name);
  }
  const { width = 0, height = 0 } = drawing.viewBox.baseVal ?? {};
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  return new XMLSerializer().serializeToString(copy);
}

/** Image pixels per drawing pixel, so that it stays sharp when enlarged. */
const PNG_SCALE = 2;
/** Largest canvas that browsers draw, pixels. */
const MAX_PNG_PX = 16_000;

/** A drawing as a PNG on the page background. Throws if it is too large for the browser. */
export async function pngFile(drawing: SVGSVGElement): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svgFile(drawing)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(PNG_SCALE, MAX_PNG_PX / Math.max(image.width, image.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(image.width * scale);
    canvas.height = Math.ceil(image.height * scale);
    const context = canvas.getContext('2d');
    if (context) {
      context.fillStyle = getComputedStyle(document.body).backgroundColor;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
    }
    const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (!png)
      throw new Error('The graph is too large for a PNG in this browser. Copy it as Mermaid instead.');
    return png;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The shown graph as Mermaid. */
export function mermaidFile({ nodes, edges }: GraphModel): string {
  const names = new Map(allNodes(nodes).map(({ id }, i) => [id, `n${i}`]));
  const lines = ['flowchart TD'];
  const add = (node: GraphNode, indent: string): void => {
    const name = names.get(node.id);
    const text = quoted(node.name);
    if (node.kind === 'group') {
      lines.push(`${indent}subgraph ${name}[${text}]`);
      for (const child of node.children) add(child, `${indent}  `);
      lines.push(`${indent}end`);
    } else {
      const isPill = node.kind === 'start' || node.kind === 'end';
      lines.push(`${indent}${name}${isPill ? `([${text}])` : `[${text}]`}`);
    }
  };
  for (const node of nodes) add(node, '  ');
  for (const { source, target, isConditional, label } of edges) {
    const arrow = isConditional ? '-.->' : '-->';
    const words = label === '' ? '' : `|${quoted(label)}|`;
    lines.push(`  ${names.get(source)} ${arrow}${words} ${names.get(target)}`);
  }
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '#quot;').replaceAll('\n', ' ')}"`;
}
