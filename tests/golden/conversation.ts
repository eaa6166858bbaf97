import { realWorld } from '@castellan/world';
import { differences } from './compare.js';
import { Placeholders } from './placeholders.js';
import { valueAt } from './pointer.js';
import type { RecordedRequest, Step, Transcript } from './transcript.js';
import type { Reply, Wire } from './wire.js';

/** How one recorded step went; no differences: it agrees. */
export interface StepResult {
  readonly index: number;
  readonly step: Step;
  readonly differences: readonly string[];
}

const { clock, random } = realWorld();
const untilDeadlineMs = 15_000;
const askAgainMs = 50;
const idLetters = 'bcdfghjkmnpqrstvwxz';

/**
 * Holds a recorded conversation with a server: in a namespace of its own, under names of its own. What it made that is not
 * in the namespace is removed afterwards. A step that gets no reply fails, and those after it do.
 */
export async function converse(wire: Wire, transcript: Transcript): Promise<readonly StepResult[]> {
  const conversation = new Conversation(wire);
  const results: StepResult[] = [];
  const hasNamespace = transcript.namespace !== false;
  try {
    if (hasNamespace) await conversation.makeNamespace();
    for (const [index, step] of transcript.steps.entries()) {
      const found = await conversation.step(step).catch((error: Error) => [`no reply: ${error.message}`]);
      if (step.response !== undefined) results.push({ index, step, differences: found });
    }
  } finally {
    await conversation.cleanUp(hasNamespace);
  }
  return results;
}

class Conversation {
  readonly #wire: Wire;
  readonly #variables: Map<string, string>;
  readonly #placeholders = new Placeholders();
  readonly #streams = new Map<string, Promise<Reply>>();
  readonly #made = new Set<string>();

  constructor(wire: Wire) {
    this.#wire = wire;
    const id = `g${random.string(8, idLetters)}`;
    this.#variables = new Map([
      ['id', id],
      ['Id', id.replace('g', 'G')],
      ['server', wire.server.host],
    ]);
  }

  get #namespace(): string {
    return `/api/v1/namespaces/${this.#variables.get('id')}`;
  }

  async makeNamespace(): Promise<void> {
    const name = this.#variables.get('id');
    await this.#wire.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
    const path = `${this.#namespace}/serviceaccounts`;
    const { status } = await this.#wire.send({ method: 'POST', path, body: { metadata: { name: 'default' } } });
    // Where controllers run, one of them may have been first.
    if (status !== 201 && status !== 409) throw new Error(`POST ${path}: ${status}`);
  }

  /** The differences from the recorded reply. */
  async step(recorded: Step): Promise<readonly string[]> {
    const step = this.#filledIn(recorded);
    if (step.pause !== undefined) await clock.sleep(step.pause);
    const reply = await this.#reply(step);
    if (reply === undefined) return [];
    for (const [name, pointer] of Object.entries(step.capture ?? {})) {
      this.#variables.set(name, String(valueAt(reply.body, pointer)));
    }
    return step.response === undefined ? [] : differences(step.response, reply, step, this.#placeholders);
  }

  async #reply(step: Step): Promise<Reply | undefined> {
    const { request, collect } = step;
    if (collect !== undefined) return await this.#streams.get(collect);
    if (request === undefined) return undefined;
    if (request.watch?.as !== undefined) {
      const { reply } = await this.#wire.open(request);
      // Whoever collects it hears of its failure.
      reply.catch(() => undefined);
      this.#streams.set(request.watch.as, reply);
      return undefined;
    }
    const reply = await this.#untilAsWanted(step, request);
    this.#note(request, reply);
    return reply;
  }

  async #untilAsWanted({ until }: Step, request: RecordedRequest): Promise<Reply> {
    const deadlineMs = clock.now() + (until?.timeoutMs ?? untilDeadlineMs);
    for (;;) {
      const reply = await this.#wire.send(request);
      const { status, pointer, equals } = until ?? {};
      const isWanted = pointer === undefined || String(valueAt(reply.body, pointer)) === String(equals);
      if ((isWanted && (status ?? reply.status) === reply.status) || clock.now() > deadlineMs) return reply;
      await clock.sleep(askAgainMs);
    }
  }

  /** Remembers what is outside the namespace and would stay. */
  #note({ method, path, query }: RecordedRequest, { status, body }: Reply): void {
    if (status !== 201 || query?.dryRun !== undefined || path.includes('/namespaces/')) return;
    const name = valueAt(body, '/metadata/name');
    if (method === 'PATCH') this.#made.add(path);
    else if (typeof name === 'string') this.#made.add(`${path}/${name}`);
  }

  async cleanUp(hasNamespace: boolean): Promise<void> {
    for (const path of [...this.#made].reverse()) await this.#remove(path);
    if (hasNamespace) await this.#wire.send({ method: 'DELETE', path: this.#namespace });
  }

  async #remove(path: string): Promise<void> {
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    if ((await this.#wire.send({ method: 'GET', path })).status !== 200) return;
    await this.#wire.send({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } });
    await this.#wire.send({
      method: 'DELETE',
      path,
      query: { gracePeriodSeconds: '0', propagationPolicy: 'Background' },
    });
  }

  /** `{{name}}` replaced by its value, in every text. */
  #filledIn<T>(value: T): T {
    return JSON.parse(JSON.stringify(value), (_key, part) => this.#filledInPart(part));
  }

  #filledInPart(part: unknown): unknown {
    if (typeof part === 'string') return this.#text(part);
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [this.#text(key), value]));
  }

  #text(text: string): string {
    return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => this.#variables.get(name) ?? whole);
  }
}
