import type { NodeState } from '@castellan/embedded';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';
import { ask, RefusedError } from './ask-socket.js';

/** A node that is stopped has its processes ended before the answer comes. */
const deadlineMs = 60_000;

export interface NodeAction {
  readonly verb: 'start' | 'stop';
  readonly node: string;
}

/** The nodes of the data directory's plane, after an action where one is given. */
export async function askNodes(context: Context, action?: NodeAction): Promise<readonly NodeState[]> {
  const { dataDirectory } = context;
  const path = action === undefined ? '/nodes' : `/nodes/${encodeURIComponent(action.node)}/${action.verb}`;
  const method = action === undefined ? 'GET' : 'POST';
  const socketPath = filesIn(dataDirectory).nodeSocket;
  const text = await ask({ socketPath, method, path, deadlineMs }).catch((cause: unknown) => {
    if (!(cause instanceof RefusedError)) {
      throw new CliError('NO_PLANE', `No plane with nodes runs on ${dataDirectory}.`, { cause });
    }
    const code = cause.status === 404 ? 'OBJECT_NOT_FOUND' : 'STOP_FAILED';
    throw new CliError(code, cause.message, { cause, next: '`castellan node ls` lists the nodes' });
  });
  return JSON.parse(text);
}
