import { sectionOf } from '../../config/section.ts';
import type { Contribution, Core } from '../extension.ts';
import { pageOfInvalid, studioPages } from './pages.ts';
import { studioRoutes } from './routes.ts';
import { studioService } from './service.ts';
import { studioSessions } from './sessions.ts';
import { CURRENCY, STUDIO } from './settings.ts';

/** Sessions are a way to authenticate; the pages are files. */
export function openStudio({
  config,
  extensions,
  access,
  session_secrets,
  clock,
  ids,
  logger,
}: Core): Contribution {
  const { path, read_only, trace_url } = sectionOf(config, STUDIO);
  const { authenticate, has_users, identityForUser } = access;
  const secrets = session_secrets;
  const has_handlers = config.auth.path !== undefined;
  const sessions = studioSessions({
    ...{ secrets, identityForUser, has_handlers, read_only, trace_url, clock, ids },
  });
  const currency = sectionOf(config, CURRENCY);
  const { body_limit } = config.server;
  const studio = studioService({
    ...{ sessions, authenticate, has_users, extensions, currency, body_limit },
    ...{ clock, ids, logger },
  });
  return {
    authenticating: sessions.authenticating,
    pageOfInvalid: (url, prefixes) => pageOfInvalid(url, prefixes, path),
    routes: [
      (server, { mount_prefix }) => studioRoutes(server, studio, mount_prefix),
      (server) => server.register(studioPages, { path }),
    ],
  };
}
