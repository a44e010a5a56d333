// npm run release -- 1.0.0-rc.2: gives the repository a version. Everything under "Unreleased" of the changelog becomes
// that version, dated today. Commit the result and push a tag of its name; the workflow release.yml does the rest.
import { readFileSync, writeFileSync } from 'node:fs';

const VERSION = /\d+\.\d+\.\d+(?:-rc\.\d+)?/;

/** Files that name the version, each with what is in front of it. */
const PLACES = {
  'package.json': /^ {2}"version": "/m,
  'README.md': /\bVersion\s/,
  'docs/install.md': /agent-server[-@]/,
  Dockerfile: /image\.version="/,
  'charts/agent-server/Chart.yaml': /^(?:appVersion|version): /m,
};

export function released(file, text, version, date) {
  if (file === 'CHANGELOG.md') {
    if (!/## \[Unreleased\]\n+(?!## \[)\S/.test(text))
      throw new Error('CHANGELOG.md has nothing under Unreleased.');
    return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
  }
  if (file === 'package-lock.json') {
    const lock = JSON.parse(text);
    lock.version = version;
    lock.packages[''].version = version;
    return `${JSON.stringify(lock, null, 2)}\n`;
  }
  const { source } = PLACES[file];
  return text.replace(new RegExp(`(${source})${VERSION.source}`, 'gm'), `$1${version}`);
}

function main(version) {
  if (version === undefined || !new RegExp(`^${VERSION.source}$`).test(version))
    throw new Error('Which version? Such as: npm run release -- 1.0.0-rc.2');
  const date = new Date().toISOString().slice(0, 10);
  for (const file of ['CHANGELOG.md', 'package-lock.json', ...Object.keys(PLACES)]) {
    const url = new URL(file, import.meta.url);
    writeFileSync(url, released(file, readFileSync(url, 'utf8'), version, date));
  }
  process.stdout.write(
    `Now: npm run openapi && git commit -am "Release ${version}" && git tag v${version}\n`,
  );
}

if (import.meta.main) main(process.argv[2]);
