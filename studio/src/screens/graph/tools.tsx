import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.ts';
import { saveFile } from '../../ui/save-file.ts';
import { mermaidFile, pngFile, svgFile } from './export.ts';
import type { GraphModel } from './graph-model.ts';

interface ToolsProps {
  readonly title: string;
  readonly model: GraphModel;
  /** Ids of all subgraphs. */
  readonly groups: readonly string[];
  readonly expanded: readonly string[];
  readonly onExpand: (ids: readonly string[]) => void;
  readonly zoom: number | undefined;
  readonly onZoom: (zoom: number | undefined) => void;
  /** The SVG element of the drawing. */
  readonly svg: () => SVGSVGElement | undefined;
}

const STEP = 1.25;
const MIN_ZOOM = 0.1;
const MAX_ZOOM = 4;

/** Toolbar of a drawing: title, subgraphs, zoom and export. */
export function Tools({ title, model, groups, expanded, onExpand, zoom, onZoom, svg }: ToolsProps) {
  const [isCopied, setCopied] = useState(false);
  const [problem, setProblem] = useState('');
  function scaleBy(factor: number) {
    const drawing = svg();
    const present = drawing ? drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width : 1;
    onZoom(Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, present * factor)));
  }
  function saveSvg() {
    const drawing = svg();
    if (drawing) saveFile(`${title}.svg`, svgFile(drawing), 'image/svg+xml');
  }
  async function savePng() {
    const drawing = svg();
    if (drawing) saveFile(`${title}.png`, await pngFile(drawing), 'image/png');
  }
  const areAllOpen = groups.every((id) => expanded.includes(id));
  return (
    <div className="flex flex-wrap items-center gap-x-1 gap-y-1 border-b border-line py-1.5 pr-2 pl-3">
      <h2 className="mr-auto truncate font-medium">{title}</h2>
      {groups.length > 0 && (
        <Button look="quiet" onClick={() => onExpand(areAllOpen ? [] : groups)}>
          {areAllOpen ? 'Hide subgraphs' : 'Show subgraphs'}
        </Button>
      )}
      <Button look="quiet" aria-label="Zoom out" onClick={() => scaleBy(1 / STEP)}>
        −
      </Button>
      <Button look="quiet" aria-pressed={zoom === undefined} onClick={() => onZoom(undefined)}>
        Fit
      </Button>
      <Button look="quiet" aria-label="Zoom in" onClick={() => scaleBy(STEP)}>
        +
      </Button>
      <Button look="quiet" onClick={saveSvg}>
        SVG
      </Button>
      <Button
        look="quiet"
        onClick={() => {
          setProblem('');
          savePng().catch((error: Error) => setProblem(error.message));
        }}
      >
        PNG
      </Button>
      <Button
        look="quiet"
        onClick={() => {
          setProblem('');
          copyText(mermaidFile(model)).then(
            () => setCopied(true),
            (error: Error) => setProblem(error.message),
          );
        }}
        onBlur={() => setCopied(false)}
      >
        {isCopied ? 'Copied' : 'Copy Mermaid'}
      </Button>
      {problem !== '' && (
        <span role="alert" className="w-full text-err">
          {problem}
        </span>
      )}
    </div>
  );
}
