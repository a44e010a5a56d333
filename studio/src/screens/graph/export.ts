import { allNodes, type GraphModel, type GraphNode } from './graph-model.ts';

/** What a picture needs to look alike without our style sheet. */
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

/** A drawing as a file that needs nothing else: the styles that it has on the page become its own. */
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

/** The graph in the language of Mermaid, as it is shown. */
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
