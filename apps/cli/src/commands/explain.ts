import type { Explanation } from '@castellan/runtime';
import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError } from '../errors.js';
import { ask } from '../plane/ask-socket.js';

const deadlineMs = 10_000;

/** Asks the managers of a plane, or of an operator elsewhere, what they last did about one object. */
export const explain: Run = async (context, { arguments: given, namespace, manager }) => {
  const [, kind = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(String(given)) ?? [];
  if (name === '') {
    throw new CliError('USAGE', `${given} is not KIND/NAME.`, {
      next: 'name the object as in `castellan explain etcdcluster/demo`',
    });
  }
  const place = typeof namespace === 'string' ? namespace : 'default';
  const askFor = (key: string) => explanations(context, { kind, key, manager });
  const found = await askFor(`${place}/${name}`);
  if (found.length === 0) {
    throw new CliError('UNKNOWN_KIND', `No controller here reconciles a ${kind}.`, {
      next: '`castellan status` says what runs; kinds without a controller of their own are not explained',
    });
  }
  // Objects without a namespace are asked for under their name alone.
  const known = found.some(({ last }) => last !== undefined) ? found : await askFor(name);
  context.reporter.result(known, () => known.map((each) => describe(each, context.world.clock.now())).join('\n\n'));
};

interface Question {
  readonly kind: string;
  readonly key: string;
  readonly manager: unknown;
}

async function explanations(context: Context, { kind, key, manager }: Question): Promise<readonly Explanation[]> {
  const path = `/explain?${new URLSearchParams({ kind, key })}`;
  const url = typeof manager === 'string' && URL.canParse(manager) ? new URL(manager) : undefined;
  if (manager !== undefined && url?.protocol !== 'http:') {
    throw new CliError('USAGE', `--manager ${manager} is not an address that begins with http://.`);
  }
  const where =
    url === undefined
      ? { socketPath: filesIn(context.dataDirectory).managerSocket }
      : { host: url.hostname, port: url.port };
  const text = await ask({ ...where, path, deadlineMs }).catch((cause: unknown) => {
    const whom = url === undefined ? `No plane runs on ${context.dataDirectory}` : `Nobody answers at ${url.host}`;
    throw new CliError(url === undefined ? 'NO_PLANE' : 'NOT_CONNECTED', `${whom}.`, { cause });
  });
  return JSON.parse(text);
}

function describe({ controller, kind, last, idleBecause }: Explanation, nowMs: number): string {
  const head = `${kind} ${last?.key ?? ''}  by ${controller}`.replace('  by', last === undefined ? 'by' : '  by');
  if (last === undefined) {
    return `${head}\n  never reconciled since the process began${idleBecause === undefined ? '' : `: ${idleBecause}`}`;
  }
  const { trigger, changed, outcome, at, tookMs, writes, decision, requeueAfterMs, error, failures } = last;
  const ago = `${((nowMs - at) / 1000).toFixed(1)} s ago`;
  const lines = [
    ['last', `${ago}${tookMs === undefined ? '' : `, took ${Math.round(tookMs)} ms`}: ${outcome}`],
    ['because', `${trigger}${changed.length === 0 ? '' : ` (${changed.join(', ')})`}`],
    ...writes.map((write, index) => [index === 0 ? 'wrote' : '', write]),
    ...(decision === undefined ? [] : [[decision.kind, decision.reason]]),
    ...(decision?.remedy === undefined ? [] : [['remedy', decision.remedy]]),
    ...(error === undefined ? [] : [['error', `${error} (${failures} in a row)`]]),
    ...(requeueAfterMs === undefined ? [] : [['next', `${requeueAfterMs} ms after that, or when something changes`]]),
    ...(idleBecause === undefined ? [] : [['idle', idleBecause]]),
  ];
  return [head, ...lines.map(([title = '', text = '']) => `  ${title.padEnd(9)}${text}`)].join('\n');
}
