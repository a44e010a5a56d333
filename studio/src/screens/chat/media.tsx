import { type Media as Item, type Message, mediaOf } from './messages.ts';

/** Images and files of a message. Only inline data is loaded; external URLs are links. */
export function Media({ message }: { message: Message }) {
  const items = mediaOf(message);
  if (items.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2">
      {items.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message do not move
        <li key={i}>
          <Medium item={item} />
        </li>
      ))}
    </ul>
  );
}

export function Medium({ item: { kind, name, url } }: { item: Item }) {
  if (kind === 'image' && url?.startsWith('data:image/')) {
    return <img src={url} alt={name} className="max-h-48 max-w-full rounded-lg border border-line" />;
  }
  const look = 'inline-block max-w-60 truncate rounded-lg border border-line bg-panel px-2.5 py-1 text-xs';
  if (url === undefined || !/^(https?|data):/.test(url)) return <span className={look}>{name}</span>;
  const isOwn = url.startsWith('data:');
  return (
    <a
      href={url}
      className={`${look} text-accent`}
      {...(isOwn ? { download: name } : { target: '_blank', rel: 'noopener noreferrer' })}
    >
      {name}
    </a>
  );
}
