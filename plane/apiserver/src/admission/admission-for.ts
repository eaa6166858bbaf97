import { attributesOf } from '../authorization/attributes.js';
import { assertNoEscalation } from '../authorization/escalation.js';
import { podSecurity } from '../pod-security/pod-security.js';
import type { Admission, AdmissionWrite } from '../registry/admission-control.js';
import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import type { AdmissionContext, AdmissionPlugin } from './admission-plugin.js';
import { defaultStorageClass, namespaceProtection, nodeTaint } from './cluster-plugins.js';
import { expressionCheck } from './expression-check.js';
import { limitRanger } from './limit-ranger.js';
import { nodeRestriction } from './node-restriction.js';
import { defaultTolerations, priority } from './pod-plugins.js';
import { resourceQuota } from './resource-quota.js';
import { serviceAccount } from './service-account.js';
import { claimResize, storageInUseProtection } from './storage-plugins.js';
import { validateByPolicies } from './validating-policies.js';
import { askMutatingWebhooksOfDelete, mutateByWebhooks, validateByWebhooks } from './webhooks.js';

/** In the order in which kube-apiserver asks them; webhooks come after those that change, quotas last of all. */
const plugins: readonly AdmissionPlugin[] = [
  namespaceProtection,
  limitRanger,
  serviceAccount,
  nodeRestriction,
  nodeTaint,
  podSecurity,
  priority,
  defaultTolerations,
  defaultStorageClass,
  claimResize,
  storageInUseProtection,
  expressionCheck,
];
const lastPlugins: readonly AdmissionPlugin[] = [resourceQuota];

/** Admission of one request's writes: what is added to them, and what keeps them out. */
export function admissionFor(server: Server, { user, info, reply, annotate }: Exchange, isDryRun: boolean): Admission {
  const context: AdmissionContext = { server, user, isDryRun, warn: (warning) => reply.warn(warning), annotate };
  return {
    async mutate(write) {
      await assertNoEscalation(server.authorizer, user, write);
      let { object } = write;
      for (const plugin of plugins) {
        if (plugin.mutate !== undefined && plugin.handles(write)) {
          object = await plugin.mutate({ ...write, object }, context);
        }
      }
      return await mutateByWebhooks({ ...write, object }, context);
    },
    async validate(write) {
      if (write.operation === 'DELETE') await askMutatingWebhooksOfDelete(write, context);
      await validateBy(plugins, write, context);
      await validateByPolicies(write, context);
      await validateByWebhooks(write, context);
      await validateBy(lastPlugins, write, context);
    },
    assertMayCreate: () => server.authorizer.assert(attributesOf(user, 'create', info)),
  };
}

async function validateBy(
  asked: readonly AdmissionPlugin[],
  write: AdmissionWrite,
  context: AdmissionContext,
): Promise<void> {
  for (const plugin of asked) {
    if (plugin.validate !== undefined && plugin.handles(write)) await plugin.validate(write, context);
  }
}
