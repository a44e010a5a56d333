import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { canonicalUrl } from '../../../http/canonical-url.ts';
import type { Dispatch } from '../../../http/dispatch.ts';
import { hasPrefix } from '../../../http/mount-prefix.ts';
import type { DeploymentSlot } from './slot.ts';

export interface DispatchDeps {
  /** Mount prefix of the server; empty if there is none. */
  readonly prefix: string;
  /** Path of the pages for people on the server. */
  readonly page: string | undefined;
  /** Name of the deployment that is also served at the root. */
  readonly root: string | undefined;
  readonly find: (name: string) => DeploymentSlot | undefined;
}

/** Target of a request that is not for the server itself. */
interface Target {
  readonly slot: DeploymentSlot | undefined;
  /** Why nothing can answer, if that is so. */
  readonly detail: string;
}

/** Paths that stay with the server when a deployment is served at the root: control plane, Studio and health probes. */
const OWN = /^\/(?:ok|metrics|studio|deployments|o|v2|v1\/projects)(?=[/?]|$)/;
/** Paths that the server answers until the root deployment does: the page for browsers, and `/info`. */
const UNTIL_IT_SERVES = /^\/?(?:info)?(?=[?]|$)/;
const OF_ONE = /^\/deployments\/([a-z0-9_-]+)(?=[/?]|$)/;

/** Routes each request to its deployment. */
export function deploymentDispatch({ prefix, page, root, find }: DispatchDeps): Dispatch {
  function targetOf({ url = '' }: IncomingMessage): Target | undefined {
    const path = canonicalUrl(url);
    if (!hasPrefix(prefix, path)) return undefined;
    const rest = path.slice(prefix.length);
    const slot = find(OF_ONE.exec(rest)?.[1] ?? '');
    if (slot) return { slot, detail: 'No revision of this deployment serves yet.' };
    const isOwn = OWN.test(rest) || (page !== undefined && hasPrefix(page, rest));
    return root === undefined || isOwn ? undefined : targetAtRoot(root, rest);
  }

  function targetAtRoot(name: string, rest: string): Target | undefined {
    const slot = find(name);
    if (!slot?.serves && UNTIL_IT_SERVES.test(rest)) return undefined;
    const what = `The deployment "${name}" answers here, but no revision of it serves now.`;
    return { slot, detail: `${what} If there is none yet: agent-server deploy --name ${name}` };
  }

  return {
    request(request, response) {
      const target = targetOf(request);
      if (!target) return false;
      if (!target.slot) refuse(response, target);
      target.slot?.withMount(request.url, (mount) => {
        if (mount) mount.request(request, response);
        else refuse(response, target);
      });
      return true;
    },
    upgrade(request, socket, head) {
      const target = targetOf(request);
      if (!target) return false;
      // Node listens no longer, and the deployment's server not yet: a client may reset the connection in between.
      socket.on('error', () => socket.destroy());
      if (!target.slot) refuseUpgrade(socket);
      target.slot?.withMount(request.url, (mount) => {
        if (mount) mount.upgrade(request, socket, head);
        else refuseUpgrade(socket);
      });
      return true;
    },
  };
}

function refuse(response: ServerResponse, { detail }: Target): void {
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(JSON.stringify({ detail }));
}

function refuseUpgrade(socket: Duplex): void {
  socket.end('HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\r\n');
}
