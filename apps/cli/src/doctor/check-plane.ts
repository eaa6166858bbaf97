import type { InstanceView } from '../etcd/instance-view.js';
import type { StatusView } from '../plane/observe-plane.js';
import type { Finding } from './finding.js';

/** What is not as it should be in a running plane, and what to look at next. */
export function checkPlane({ plane, nodes, etcd, pods }: StatusView, kubectl: string): readonly Finding[] {
  return [
    plane.isReady
      ? { severity: 'ok', subject: 'API server', evidence: `ready at ${plane.url}` }
      : {
          severity: 'problem',
          subject: 'API server',
          evidence: '/readyz is not 200',
          next: 'read castellan.log in the data directory',
        },
    ...nodes.map(({ name, isReady, reason }): Finding => {
      if (isReady) return { severity: 'ok', subject: `node ${name}`, evidence: 'ready' };
      return {
        severity: 'problem',
        subject: `node ${name}`,
        evidence: reason,
        next: `${kubectl} describe node ${name}`,
      };
    }),
    ...etcd.map((view) => checkInstance(view, kubectl)),
    ...pods
      .filter(({ state }) => !/^(Running|Succeeded|Terminating)$/.test(state))
      .map(({ namespace, name, state }): Finding => {
        const next = `${kubectl} -n ${namespace} describe pod ${name}`;
        return { severity: 'warning', subject: `pod ${namespace}/${name}`, evidence: state, next };
      }),
  ];
}

function checkInstance(view: InstanceView, kubectl: string): Finding {
  const subject = `etcdcluster ${view.namespace}/${view.name}`;
  const members = `${view.ready} of ${view.size} members ready`;
  if (view.isAvailable) return { severity: 'ok', subject, evidence: members };
  const next = `${kubectl} -n ${view.namespace} describe etcdcluster ${view.name}`;
  return {
    severity: view.phase === 'Failed' ? 'problem' : 'warning',
    subject,
    evidence: `${members}: ${view.reason}`,
    next,
  };
}
