/** Style sheet of the guides, in both themes. */
export const GUIDE_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee4, #3a4046); --code: light-dark(#f5f7f9, #22272c); }
:root[data-theme=light] { color-scheme: light; }
:root[data-theme=dark] { color-scheme: dark; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; background: light-dark(#fff, #1c2022); color: light-dark(#1f2328, #e4e6e6); }
header { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; padding: 12px 24px; border-bottom: 1px solid var(--line); }
form { flex: 1 1 16rem; display: flex; gap: 8px; justify-content: flex-end; min-width: 0; }
input { flex: 0 1 22rem; min-width: 0; }
input, button { font: inherit; padding: 4px 10px; border: 1px solid var(--line); border-radius: 6px; }
.columns { display: grid; grid-template-columns: 14rem minmax(0, 52rem); gap: 32px; justify-content: center; padding: 0 24px 64px; }
nav { padding-top: 24px; font-size: 14px; }
nav ul { margin: 2px 0 10px; padding-left: 16px; list-style: none; }
nav summary { cursor: pointer; font-weight: 600; }
nav [aria-current] { font-weight: 600; }
@media (max-width: 60rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: 0; } }
main { min-width: 0; overflow-wrap: break-word; }
a { color: light-dark(#0b62c4, #79b8ff); }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 .5em; }
pre { overflow-x: auto; padding: 12px 16px; background: var(--code); border-radius: 6px; font-size: 14px; line-height: 1.45; }
:not(pre) > code { padding: .1em .35em; background: var(--code); border-radius: 4px; font-size: .9em; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 6px 12px; border: 1px solid var(--line); text-align: left; vertical-align: top; }
blockquote { margin: 1em 0; padding: 0 1em; border-left: 4px solid var(--line); }
img { max-width: 100%; }
.matches li { margin-bottom: 14px; }
.source { margin-top: 48px; font-size: 14px; }
`;

/** Runs before the first paint. The choice of the system needs no memory: it is followed from then on. */
export const THEME_SCRIPT = `
const KEY = 'guides.theme';
const root = document.documentElement;
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const systemTheme = () => (prefersDark.matches ? 'dark' : 'light');
const otherTheme = () => ((root.dataset.theme ?? systemTheme()) === 'dark' ? 'light' : 'dark');
// Storage may be disabled. The choice then lasts as long as the page.
try {
  const kept = localStorage.getItem(KEY);
  if (kept === 'light' || kept === 'dark') root.dataset.theme = kept;
} catch {}
addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('theme');
  const name = () => { button.textContent = otherTheme() === 'dark' ? 'Dark' : 'Light'; };
  button.addEventListener('click', () => {
    const next = otherTheme();
    if (next === systemTheme()) delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === systemTheme()) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
    } catch {}
    name();
  });
  prefersDark.addEventListener('change', name);
  name();
  button.hidden = false;
});
`;
