import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { NameForm } from './name-form.tsx';
import {
  deleteView,
  type Filters,
  renameView,
  saveView,
  type View,
  type ViewScreen,
  viewsNamespace,
  viewsQuery,
} from './views-query.ts';

interface SavedViewsProps {
  readonly screen: ViewScreen;
  /** Current filters, from the address. */
  readonly filters: Filters;
}

/** Saved views: named filters of a screen, in the caller's store. Hidden from callers who may not write there. */
export function SavedViews(props: SavedViewsProps) {
  const { can } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (!can('run')) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Views …</Button>
      <Dialog title="Saved views" open={isOpen} onClose={() => setOpen(false)}>
        <Views {...props} close={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Views({ screen, filters, close }: SavedViewsProps & { close: () => void }) {
  const namespace = viewsNamespace(useSession(), screen);
  const query = viewsQuery(namespace);
  const { data: views, error, refetch } = useQuery(query);
  const client = useQueryClient();
  const { mutateAsync: change } = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSettled: () => client.invalidateQueries({ queryKey: query.queryKey }),
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!views) return <Loading what="views" />;
  const names = views.map(({ name }) => name);
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <>
      {views.length > 0 && (
        <ul aria-label="Saved views" className="flex flex-col">
          {views.map((view) => (
            <ViewRow
              key={view.name}
              screen={screen}
              view={view}
              taken={names}
              close={close}
              rename={(name) => change(() => renameView(namespace, view, name))}
              remove={() => change(() => deleteView(namespace, view.name))}
            />
          ))}
        </ul>
      )}
      {isFiltered ? (
        <NameForm
          label="Name for the current filters"
          action={(name) => (names.includes(name) ? 'Replace' : 'Save')}
          save={(name) => change(() => saveView(namespace, { name, filters }))}
        />
      ) : (
        <p className="text-ink-3">Set filters on the screen to save them as a view.</p>
      )}
    </>
  );
}

interface ViewRowProps {
  readonly screen: ViewScreen;
  readonly view: View;
  /** Names of all views. */
  readonly taken: readonly string[];
  readonly close: () => void;
  readonly rename: (name: string) => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
}

function ViewRow({ screen, view, taken, close, rename, remove }: ViewRowProps) {
  const [isRenaming, setRenaming] = useState(false);
  const [problem, setProblem] = useState('');
  if (isRenaming) {
    return (
      <li className="py-1">
        <NameForm
          label={`New name of ${view.name}`}
          name={view.name}
          action={() => 'Rename'}
          refused={taken.filter((name) => name !== view.name)}
          save={async (name) => {
            if (name !== view.name) await rename(name);
            setRenaming(false);
          }}
        />
      </li>
    );
  }
  return (
    <li className="flex flex-wrap items-center gap-1 rounded-md py-0.5 pl-2 hover:bg-sunk">
      <Link
        to={`/${screen}`}
        search={view.filters}
        onClick={close}
        className="min-w-0 flex-1 truncate font-medium hover:text-accent"
      >
        {view.name}
      </Link>
      <Button look="quiet" aria-label={`Rename ${view.name}`} onClick={() => setRenaming(true)}>
        Rename
      </Button>
      <Button
        look="quiet"
        aria-label={`Delete ${view.name}`}
        onClick={() => void remove().catch((error: Error) => setProblem(error.message))}
      >
        Delete
      </Button>
      {problem !== '' && (
        <span role="alert" className="w-full text-xs text-err">
          {problem}
        </span>
      )}
    </li>
  );
}
