import { StreamResponse, type Task } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { toJson } from '../../core/json.ts';
import type { Tell } from '../../storage/a2a/push-configs.ts';

const legacy = new V03PushNotificationSerializer();

/**
 * What subscribers are told of a change: the whole task, so that one notice says all and none needs another before it.
 * 1.0 wraps it as an event of a stream. The task is made when somebody is to be told.
 */
export function tellOf(taskOf: () => Task): Tell {
  return (version) => {
    const event: StreamResponse = { payload: { $case: 'task', value: taskOf() } };
    return version === '0.3' ? legacy.serialize(event).body : toJson(StreamResponse.toJSON(event));
  };
}
