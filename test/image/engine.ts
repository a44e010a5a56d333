import { command } from '../package/command.ts';
import { buildah } from './buildah.ts';
import { docker } from './docker.ts';

/** How a container is run: its root cannot be written, and its user is none that the image knows. */
export interface ContainerOptions {
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

/** What builds and runs images. Containers share the network of this machine. */
export interface Engine {
  /** Builds the Dockerfile of the repository. */
  build(): Promise<void>;
  /** Runs a command in a new container, or the command of the image. */
  container(options: ContainerOptions, args?: readonly string[]): ContainerCommand;
  /** The health check of the image, as a line for a shell. */
  healthCheck(): Promise<string>;
}

/** Docker where an engine answers; else buildah, for which `folder` must be empty and have room for 3 GB. */
export async function engineIn(folder: string): Promise<Engine> {
  const answers = await command('docker', ['info'], { cwd: folder }).then(
    () => true,
    () => false,
  );
  return answers ? docker() : buildah(folder);
}
