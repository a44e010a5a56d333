import { json } from '@codemirror/lang-json';
import { EditorView, minimalSetup } from 'codemirror';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';

export interface EditorHandle {
  /** Replaces the whole text. */
  replace(text: string): void;
}

interface JsonEditorProps {
  readonly ref: Ref<EditorHandle>;
  readonly label: string;
  /** Initial text. The editor owns it from then on. */
  readonly initial: string;
  readonly onChange: (text: string) => void;
}

/** The page's colours as custom properties, which reach into the shadow tree. */
const theme = EditorView.theme({
  '&': { maxHeight: '44vh', minHeight: '160px', fontSize: '12px', backgroundColor: 'var(--sunk)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono, ui-monospace, monospace)', lineHeight: '18px' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-bg)',
  },
  '.cm-content .cm-line span': { color: 'var(--ink)' },
});

/**
 * A JSON editor. It is in a shadow tree, where its styles are constructed style sheets, which the content security policy
 * allows. Tab leaves it.
 */
export function JsonEditor({ ref, label, initial, onChange }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef(initial);
  const name = useRef(label);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      doc: first.current,
      root,
      parent: root,
      extensions: [
        minimalSetup,
        json(),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': name.current }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) changed.current(state.doc.toString());
        }),
      ],
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useImperativeHandle(ref, () => ({
    replace(text) {
      const editor = view.current;
      editor?.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
    },
  }));
  return <div ref={host} className="overflow-hidden rounded-lg border border-line" />;
}
