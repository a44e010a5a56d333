import { chown, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { command } from '../package/command.ts';
import { streamedBy } from '../package/streamed.ts';
import { freePort } from '../support/free-port.ts';
import { type Container, startContainer } from './container.ts';
import type { ContainerOptions, Image } from './engine.ts';

/** The user `node` of an image. */
export const NODE = 1_000;

export interface ProjectContainer extends Container {
  readonly url: string;
  readonly key: string;
  /** Runs another command in the image, with the same data. */
  inside(args: readonly string[]): Promise<string>;
}

/** Runs an image of a project with a key, and data in a folder below `folder`. */
export async function startProject(image: Image, folder: string): Promise<ProjectContainer> {
  const data = await mkdtemp(join(folder, 'data-'));
  await chown(data, NODE, NODE);
  const key = 'key-of-the-project';
  const port = String(await freePort());
  const options: ContainerOptions = {
    uid: NODE,
    env: { AGENT_SERVER_API_KEYS: key, PORT: port },
    mounts: { '/data': data },
  };
  const container = await startContainer(image.container(options));
  return {
    ...container,
    url: `http://127.0.0.1:${port}`,
    key,
    async inside(args) {
      const { name, args: all } = image.container(options, args);
      return command(name, all, { cwd: folder });
    },
  };
}

/** The image of a template's project streams, is healthy by its own check, and ends when asked. `page`: what is at `/`. */
export async function expectStreaming(image: Image, folder: string, page: RegExp): Promise<void> {
  expect(image.config).toMatchObject({ User: 'node', ExposedPorts: { '8123/tcp': {} } });
  await using container = await startProject(image, folder);
  expect(await streamedBy(container.url, container.key)).toBeGreaterThan(1);
  expect((await fetch(container.url)).headers.get('content-type')).toMatch(page);
  await container.inside(image.config.Healthcheck.Test.slice(1));
  expect(await container.stop()).toBe(0);
}
