import type { ManagerWebhooks } from '../manager/manager-webhooks.js';
import type { Operator } from './operator.js';

/** How an API server reaches the webhooks of an operator, and what they are served with. */
export interface WebhookReach extends Pick<ManagerWebhooks, 'endpoint' | 'port'> {
  /**
   * Unless told made by the operator, and kept in the Secret `NAME-webhooks`, NAME being the operator's: in the namespace of the
   * Service, or in `default` where a host is told.
   */
  readonly certificates?: ManagerWebhooks['certificates'];
}

/** Whether the API server is to ask this operator anything. */
export function hasWebhooks({ webhooks = [], convertedKinds = [] }: Operator): boolean {
  return webhooks.length > 0 || convertedKinds.length > 0;
}

/** The `webhooks` of the manager that runs the operator; `undefined` where it has none. */
export function operatorWebhooks(operator: Operator, reach: WebhookReach): ManagerWebhooks | undefined {
  if (!hasWebhooks(operator)) return undefined;
  const { name, webhooks = [], convertedKinds = [] } = operator;
  const { endpoint } = reach;
  const namespace = 'service' in endpoint ? endpoint.service.namespace : 'default';
  const certificates = { secret: { namespace, name: webhookSecretName(operator) } };
  return { certificates, ...reach, name, webhooks, kinds: convertedKinds };
}

export function webhookSecretName({ name }: Operator): string {
  return `${name}-webhooks`;
}
