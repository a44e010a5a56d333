import { command } from '../package/command.ts';
import { buildah } from './buildah.ts';
import { docker } from './docker.ts';

/** How a container is run: its root cannot be written. */
export interface ContainerOptions {
  /** The image need not know it. */
  readonly uid: number;
  readonly env: Readonly<Record<string, string>>;
  /** Folders of this machine by where they are mounted. Those below `/data` can be written. */
  readonly mounts: Readonly<Record<string, string>>;
}

/** A command that stays until the container ends, takes signals for it and ends with its exit code. */
export interface ContainerCommand {
  readonly name: string;
  readonly args: readonly string[];
}

/** As the engines call it. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Containers share the network of this machine. */
export interface Image {
  readonly config: ImageConfig;
  /** Runs a command in a new container, or the command of the image. */
  container(options: ContainerOptions, args?: readonly string[]): ContainerCommand;
  /** What a registry would store and a machine would download. */
  compressedBytes(): Promise<number>;
}

/** What builds and runs images. */
export interface Engine {
  /** `context`: the folder that is sent. `dockerfile`: its path in there. */
  build(tag: string, context: string, dockerfile?: string): Promise<Image>;
}

/** Docker where an engine answers; else buildah, for which `folder` must be empty and have room for 4 GB. */
export async function engineIn(folder: string): Promise<Engine> {
  const answers = await command('docker', ['info'], { cwd: folder }).then(
    () => true,
    () => false,
  );
  return answers ? docker() : await buildah(folder);
}
