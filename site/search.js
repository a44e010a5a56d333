// The search of the site: the same as the server's, in the browser.
import { matchList } from '../src/http/guides/matches.ts';
import { guideSearch } from '../src/http/guides/search.ts';

const query = new URLSearchParams(location.search).get('q') ?? '';
document.querySelector('input[name=q]').value = query;
if (query !== '') {
  const parts = await (await fetch('search.json')).json();
  const list = matchList(guideSearch(parts)(query), { guides: '.', pages: '.html' });
  document.getElementById('matches').innerHTML = list;
}
