import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
} from '@a2a-js/sdk/errors';
import type { Actor } from '../../auth/actor.ts';
import type { A2aContext } from './context.ts';
import type { NewPushConfig, PushConfig } from './storage/push-configs.ts';
import { tooManySubscribers } from './storage/turns.ts';
import type { TaskStates } from './task-states.ts';

export type A2aPush = ReturnType<typeof pushConfigs>;

/** Maximum length of ids, tokens and credentials, characters. */
const MAX_TEXT = 4096;
/** Id that 0.3 clients use for a task's only configuration. */
const DEFAULT_ID = 'default';

/**
 * Push notification configurations of a task. Every method throws `PushNotificationNotSupportedError` if push is
 * disabled, and `TaskNotFoundError` if the task is hidden from the actor.
 */
export function pushConfigs(
  { push, webhooks, ids, sends_webhooks }: A2aContext,
  { find }: Pick<TaskStates, 'find'>,
) {
  function requireSending(): void {
    if (sends_webhooks) return;
    throw new PushNotificationNotSupportedError(
      'This server sends no push notifications. Subscribe to the task instead.',
    );
  }

  /** Validates a configuration for storage; without an id it takes the task's. Throws `InvalidInput` for a forbidden URL. */
  function checked(config: TaskPushNotificationConfig, version: PushConfig['version']): NewPushConfig {
    requireSending();
    const { id, url, token, authentication } = config;
    if (typeof url !== 'string' || url === '')
      throw new RequestMalformedError('url must be the address to send to.');
    webhooks.checkSyntax(url);
    const { scheme = '', credentials = '' } = authentication ?? {};
    for (const [name, text] of Object.entries({ id, token, scheme, credentials })) {
      // The A2A library does not validate the field types of 0.3 requests.
      if (typeof text === 'string' && text.length <= MAX_TEXT && /^[\x20-\x7e]*$/.test(text)) continue;
      throw new RequestMalformedError(`${name} must be at most ${MAX_TEXT} printable ASCII characters.`);
    }
    return {
      config_id: id || undefined,
      version,
      url,
      token: token || null,
      scheme: scheme || null,
      credentials: credentials || null,
    };
  }

  return {
    checked,

    /** Upserts by id; 1.0 clients may add several without one. */
    async create(
      actor: Actor,
      assistant_id: string,
      config: TaskPushNotificationConfig,
      version: PushConfig['version'],
    ): Promise<TaskPushNotificationConfig> {
      const wanted = checked(config, version);
      const config_id = wanted.config_id ?? (version === '0.3' ? undefined : ids.uuid4());
      const { task_id } = await find(actor, assistant_id, config.taskId, 'threads:update');
      const saved = await push.save(task_id, { ...wanted, config_id });
      if (!saved) throw tooManySubscribers();
      return { ...publicConfig(saved), authentication: config.authentication };
    },

    /** 0.3 clients may address the only configuration with no id, `default` or the task id. */
    async get(
      actor: Actor,
      assistant_id: string,
      { taskId, id }: { taskId: string; id: string },
    ): Promise<TaskPushNotificationConfig> {
      requireSending();
      const { task_id } = await find(actor, assistant_id, taskId);
      const configs = await push.list(task_id);
      const isOnly = configs.length === 1 && ['', DEFAULT_ID, task_id].includes(id);
      const found = configs.find(({ config_id }) => config_id === id) ?? (isOnly ? configs[0] : undefined);
      if (!found) throw new TaskNotFoundError(`Push notification configuration not found: ${id}`);
      return publicConfig(found);
    },

    async list(actor: Actor, assistant_id: string, taskId: string): Promise<TaskPushNotificationConfig[]> {
      requireSending();
      const { task_id } = await find(actor, assistant_id, taskId);
      return (await push.list(task_id)).map(publicConfig);
    },

    /** Idempotent: a missing configuration is not an error. */
    async delete(actor: Actor, assistant_id: string, { taskId, id }: { taskId: string; id: string }) {
      requireSending();
      const { task_id } = await find(actor, assistant_id, taskId, 'threads:update');
      await push.delete(task_id, id);
    },
  };
}

/** Redacts credentials: they are sent only to the URL they belong to. */
function publicConfig({ task_id, config_id, url, token, scheme }: PushConfig): TaskPushNotificationConfig {
  return {
    tenant: '',
    id: config_id,
    taskId: task_id,
    url,
    token: token ?? '',
    authentication: scheme === null ? undefined : { scheme, credentials: '' },
  };
}
