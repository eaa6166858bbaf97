import { type CelAccessAnswer, type CelAccessQuestion, CelAuthorizer, type CelValue } from '@castellan/machinery';
import type { Attributes } from '../authorization/attributes.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { User } from '../server/http.js';
import type { AdmissionContext } from './admission-plugin.js';

/** No expression asks for more at once. */
const mostRounds = 100;

/**
 * What expressions ask by `authorizer`. They are evaluated in one go and the answers take time: an expression that asks
 * for what is not known yet is evaluated anew when it is.
 */
export class AccessQuestions {
  private readonly answers = new Map<string, CelAccessAnswer>();
  private readonly open = new Map<string, CelAccessQuestion>();
  private readonly write: AdmissionWrite;
  private readonly context: AdmissionContext;

  constructor(write: AdmissionWrite, context: AdmissionContext) {
    this.write = write;
    this.context = context;
  }

  get variables(): readonly (readonly [string, CelValue])[] {
    const { definition, subresource, namespace = '', name } = this.write;
    const requestResource = { group: definition.group, resource: definition.plural, subresource, namespace, name };
    return [['authorizer', new CelAuthorizer((question) => this.answer(question), requestResource)]];
  }

  /** Lets other requests go on for a moment. */
  pause(): Promise<void> {
    return this.context.server.world.clock.sleep(0);
  }

  async answered(evaluate: () => CelValue): Promise<CelValue> {
    for (let round = 1; ; round += 1) {
      this.open.clear();
      try {
        const value = evaluate();
        if (this.open.size === 0) return value;
      } catch (error) {
        if (this.open.size === 0 || round === mostRounds) throw error;
      }
      for (const [key, question] of this.open) this.answers.set(key, await this.ask(question));
    }
  }

  private answer(question: CelAccessQuestion): CelAccessAnswer {
    const key = JSON.stringify(question);
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    this.open.set(key, question);
    return { isAllowed: false, reason: '' };
  }

  private ask(question: CelAccessQuestion): Promise<CelAccessAnswer> {
    const { serviceAccount, ...asked } = question;
    const user = serviceAccount === undefined ? this.context.user : userOfAccount(serviceAccount);
    const attributes: Attributes =
      'path' in asked ? { type: 'path', user, ...asked } : { type: 'resource', user, ...asked };
    return this.context.server.authorizer.decide(attributes);
  }
}

function userOfAccount({ namespace, name }: { readonly namespace: string; readonly name: string }): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
