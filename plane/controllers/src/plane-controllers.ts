import type { KeyedCertificate } from '@castellan/certificates';
import { type Controller, channelSource } from '@castellan/runtime';
import { tokenSecretsController } from './accounts/token-secrets.js';
import { nodeApprovalController } from './certificates/node-approval-controller.js';
import { certificateSigningController } from './certificates/signing-controller.js';
import type { Component, ComponentContext } from './component.js';
import { cronJobController } from './cron-jobs/cron-job-controller.js';
import { daemonSetController } from './daemon-sets/daemon-set-controller.js';
import { deploymentController } from './deployments/deployment-controller.js';
import { disruptionController } from './disruption/disruption-controller.js';
import { staleDisruptionTargetController } from './disruption/stale-target-controller.js';
import { endpointsController } from './endpoints/endpoints-controller.js';
import { garbageCollector } from './garbage-collector/garbage-collector.js';
import { jobController } from './jobs/job-controller.js';
import { finishedJobController } from './jobs/ttl-controller.js';
import { defaultAccountController } from './namespaces/default-account.js';
import { namespaceDeletionController } from './namespaces/namespace-deletion.js';
import { rootCertificatePublisher } from './namespaces/root-certificate.js';
import { nodeLifecycleController } from './nodes/node-lifecycle-controller.js';
import { taintEvictionController } from './nodes/taint-eviction-controller.js';
import { endedPodsController, unscheduledPodsController } from './pod-gc/ended-pods.js';
import { lostPodsController } from './pod-gc/lost-pods.js';
import { resourceQuotaController } from './quota/quota-controller.js';
import { replicaSetController, replicationControllerController } from './replica-sets/replica-set-controller.js';
import { statefulSetController } from './stateful-sets/stateful-set-controller.js';
import { claimController } from './storage/claim-controller.js';
import { ephemeralClaimController } from './storage/ephemeral-claims.js';
import { claimProtectionController, volumeProtectionController } from './storage/in-use-protection.js';
import { localClasses } from './storage/local-classes.js';
import { volumeController } from './storage/volume-controller.js';

export interface PlaneControllersOptions extends ComponentContext {
  /** The certificate authority that signed the API server's certificate, in PEM. */
  readonly rootCertificate: string;
  /** Signs what CertificateSigningRequests ask for; absent: nothing does. */
  readonly authority?: KeyedCertificate;
}

export interface PlaneControllers {
  /** For a manager. */
  readonly controllers: readonly Controller[];
  /** To be run beside it. */
  readonly components: readonly Component[];
}

/** What kube-controller-manager does for a plane, as far as it is built. Everything goes over the HTTP API. */
export function planeControllers(options: PlaneControllersOptions): PlaneControllers {
  const { authority } = options;
  const released = channelSource({ name: 'the controller of claims' });
  return {
    controllers: [
      defaultAccountController(),
      tokenSecretsController(options.rootCertificate),
      namespaceDeletionController(),
      endpointsController(),
      claimController(released),
      volumeController(released),
      ephemeralClaimController(),
      claimProtectionController(),
      volumeProtectionController(),
      nodeLifecycleController(),
      taintEvictionController(),
      replicaSetController(),
      replicationControllerController(),
      jobController(),
      finishedJobController(),
      statefulSetController(),
      cronJobController(),
      disruptionController(),
      resourceQuotaController(),
      lostPodsController(),
      endedPodsController(),
      unscheduledPodsController(),
      staleDisruptionTargetController(),
      deploymentController(),
      daemonSetController(),
      ...(authority === undefined ? [] : [nodeApprovalController(), certificateSigningController(authority)]),
    ],
    components: [
      garbageCollector(options),
      rootCertificatePublisher(options, options.rootCertificate),
      localClasses(options),
    ],
  };
}
