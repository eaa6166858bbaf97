import { deepEqual } from '@castellan/machinery';
import { attributesOf } from '../authorization/attributes.js';
import { assertNoEscalation } from '../authorization/escalation.js';
import type { ApiObject } from '../json.js';
import { podSecurity } from '../pod-security/pod-security.js';
import type { Admission, AdmissionChange, AdmissionWrite } from '../registry/admission-control.js';
import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import type { AdmissionContext, AdmissionPlugin } from './admission-plugin.js';
import { certificateApproval, certificateSigning, certificateSubject } from './certificate-requests.js';
import { defaultStorageClass, namespaceProtection, nodeTaint } from './cluster-plugins.js';
import { expressionCheck } from './expression-check.js';
import { limitRanger } from './limit-ranger.js';
import { MutatingPolicies } from './mutating-policies.js';
import { nodeRestriction } from './node-restriction.js';
import { defaultTolerations, priority } from './pod-plugins.js';
import { resourceQuota } from './resource-quota.js';
import { serviceAccount } from './service-account.js';
import { claimResize, storageInUseProtection } from './storage-plugins.js';
import { validateByPolicies } from './validating-policies.js';
import { askMutatingWebhooksOfDelete, MutatingWebhooks, validateByWebhooks } from './webhooks.js';

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
  certificateApproval,
  certificateSigning,
  certificateSubject,
  expressionCheck,
];
const lastPlugins: readonly AdmissionPlugin[] = [resourceQuota];

/** Admission of one request's writes: what is added to them, and what keeps them out. */
export function admissionFor(server: Server, { user, info, reply, annotate }: Exchange, isDryRun: boolean): Admission {
  const context: AdmissionContext = { server, user, isDryRun, warn: (warning) => reply.warn(warning), annotate };
  return {
    async mutate(write) {
      await assertNoEscalation(server.authorizer, user, write);
      return await mutateBy(write, context);
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

/**
 * The rules of this server, then the policies, then the webhooks. Where a policy or a webhook changes the object, the rules
 * of the server look at it once more, and those policies and webhooks that ask for it.
 */
async function mutateBy(write: AdmissionChange, context: AdmissionContext): Promise<ApiObject> {
  const policies = new MutatingPolicies(context);
  const webhooks = new MutatingWebhooks(context);
  const first = await policies.mutate({ ...write, object: await mutateByPlugins(write, context) });
  const object = await webhooks.mutate({ ...write, object: first });
  if (!policies.reinvocation.wantsSecondPass && !webhooks.reinvocation.wantsSecondPass) return object;
  const again = await mutateByPlugins({ ...write, object }, context);
  policies.reinvocation.beginSecondPass(!deepEqual(again, first));
  const second = await policies.mutate({ ...write, object: again });
  webhooks.reinvocation.beginSecondPass(!deepEqual(second, object));
  return await webhooks.mutate({ ...write, object: second });
}

async function mutateByPlugins(write: AdmissionChange, context: AdmissionContext): Promise<ApiObject> {
  let { object } = write;
  for (const plugin of plugins) {
    if (plugin.mutate !== undefined && plugin.handles(write)) {
      object = await plugin.mutate({ ...write, object }, context);
    }
  }
  return object;
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
